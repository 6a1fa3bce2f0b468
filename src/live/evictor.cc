#include "live/evictor.h"

#include <algorithm>
#include <map>
#include <utility>

#include "live/bind_book.h"
#include "live/eviction_recovery.h"

namespace strata::live {
namespace {

using Kind = EvictionStep::Kind;

StepAnswer AnswerOf(Kind kind, const kube::Reply& reply) {
  if (reply) return StepAnswer::kDone;
  const int status = reply.error().http_status;
  if (status == 404) return StepAnswer::kGone;
  const bool is_budget = status == 429 || status == 500;  // 500: two budgets select the pod
  const bool for_good = status == 403 || status == 422;
  if (kind == Kind::kTryOut && (is_budget || for_good)) return StepAnswer::kRefused;
  if (kind == Kind::kNominate && for_good) return StepAnswer::kRefused;
  return StepAnswer::kNone;
}

kube::Call StatusCall(const kube::PodName& pod, std::string patch) {
  kube::Call call = kube::PatchCall({kube::kPods, pod.ns, pod.name, "status"},
                                    {.type = kube::PatchType::kStrategic, .field_manager = ""},
                                    std::move(patch));
  call.repeat = kube::Repeat::kHarmless;
  return call;
}

}  // namespace

Evictor::Evictor(Tools tools, std::shared_ptr<kube::Mailbox> mailbox)
    : tools_(std::move(tools)), mailbox_(std::move(mailbox)), book_(tools_.random) {}

void Evictor::CarryOut(const CycleResult& result, const ClaimBook& claims) {
  for (const ClaimEnd& end : result.ended) EndClaim(end);
  FollowOutcomes();  // a plan that ended here may have victims of the next one
  for (const CycleResult::EvictionPlan& plan : result.evictions) {
    const ClusterState& state = tools_.feed.state();
    const GangClaim* claim = claims.Find(state.workload().job(plan.claimant).spec.name);
    EvictionOrder order = MakeEvictionOrder(state, plan, claim);
    for (kube::EventNote& event : EventsOf(tools_.feed, plan, order)) {
      tools_.events.Record(std::move(event));
    }
    for (const auto& victim : plan.victims) {
      for (const TaskId task : victim.tasks) tools_.feed.Evict(task);
    }
    tools_.log.Info("evicting", {{"reason", order.reason}, {"pods", order.victims.size()}});
    Send(book_.Begin(std::move(order)));
  }
  FollowOutcomes();
}

void Evictor::EndClaim(const ClaimEnd& end) {
  if (end.kind == ClaimEnd::Kind::kStarted) {
    tools_.log.Info("job starts in the room made for it", {{"job", end.claim.job}});
  } else {
    tools_.log.Warning("the room made for a job was given up",
                       {{"job", end.claim.job}, {"err", end.why}});
  }
  // A job of higher priority needs them gone just as much.
  if (end.kind != ClaimEnd::Kind::kTaken && MaySpare(end.claim)) {
    EvictionBook::Steps steps;
    book_.Cancel(end.claim.job, end.why, steps);
    return Send(steps);
  }
  tools_.metrics.CountClaimEnd(end);
  if (end.kind == ClaimEnd::Kind::kStarted) return;
  std::vector<kube::PodName> pods;
  for (const GangClaim::Pod& pod : end.claim.pods) {
    const kube::PodName name = ToPodName(pod.name, pod.uid);
    if (IsThere(name)) pods.push_back(name);
  }
  Send(EvictionBook::Clear(pods));
}

// A former scheduler may have deleted some of the victims already.
bool Evictor::MaySpare(const GangClaim& claim) const {
  const EvictionOrder* order = book_.FindCancellable(claim.job);
  if (order == nullptr || !claim.recovered) return order != nullptr;
  const WorkloadTable& workload = tools_.feed.state().workload();
  std::map<JobId, std::int32_t> spared;
  for (const EvictionOrder::Victim& victim : order->victims) {
    const auto task = tools_.feed.FindTask(NameOf(victim.pod));
    if (task && workload.task(*task).job.valid()) ++spared[workload.task(*task).job];
  }
  return std::all_of(spared.begin(), spared.end(), [&](const auto& entry) {
    const Job& job = workload.job(entry.first);
    return job.counts.Ready() + entry.second >= job.spec.min_available;
  });
}

void Evictor::Recover(ClaimBook& claims) {
  claims.KnowsNothingBefore(tools_.clock.Now());
  Recovery found = FindLeftovers(tools_.feed, tools_.clock.Now());
  for (Recovery::Begun& begun : found.begun) {
    if (claims.Find(begun.claim.job) != nullptr || book_.IsBusyFor(begun.claim.job)) continue;
    tools_.log.Info("going on with an eviction",
                    {{"job", begun.claim.job}, {"pods", begun.order.victims.size()}});
    for (const EvictionOrder::Victim& victim : begun.order.victims) {
      if (const auto task = tools_.feed.FindTask(NameOf(victim.pod))) tools_.feed.Evict(*task);
    }
    claims.Add(std::move(begun.claim));
    Send(book_.GoOn(std::move(begun.order)));
  }
  Send(found.undo);
  FollowOutcomes();
}

void Evictor::DoDue() {
  for (const EvictionStep& step : book_.TakeDue(tools_.now())) {
    if (IsThere(step.pod)) {
      SendOne(step);
    } else {
      TakeAnswer(step, StepAnswer::kGone, "");
    }
  }
}

bool Evictor::IsThere(const kube::PodName& pod) const {
  const objects::Pod* known = tools_.feed.FindPod(NameOf(pod));
  return known != nullptr && known->meta.uid == pod.uid;
}

void Evictor::Send(const EvictionBook::Steps& steps) {
  for (const EvictionStep& step : steps) SendOne(step);
}

void Evictor::SendOne(const EvictionStep& step) {
  tools_.calls.Submit(
      step.Key(),
      ToCall(step),
      CallQueue::Urgency::kUrgent,
      [this, mailbox = mailbox_, step](const kube::Reply& reply) {
        const StepAnswer answer = AnswerOf(step.kind, reply);
        const std::string error = reply ? "" : reply.error().error.message;
        mailbox->Post([this, step, answer, error] { TakeAnswer(step, answer, error); });
      });
}

void Evictor::TakeAnswer(const EvictionStep& step, StepAnswer answer, const std::string& error) {
  if (answer == StepAnswer::kNone) {
    tools_.log.Warning("eviction: a write failed and is tried again",
                       {{"pod", NameOf(step.pod)}, {"err", error}});
  }
  Send(book_.Take(step, answer, tools_.now()));
  FollowOutcomes();
}

void Evictor::FollowOutcomes() {
  for (EvictionBook::Outcome& outcome : book_.TakeOutcomes()) {
    if (outcome.kind == EvictionBook::Outcome::Kind::kGone) continue;
    tools_.log.Warning("plan dropped, nobody is evicted",
                       {{"job", outcome.order.job}, {"err", outcome.why}});
    for (const EvictionOrder::Victim& victim : outcome.order.victims) {
      tools_.feed.KeepPod(NameOf(victim.pod), victim.pod.uid);
    }
    if (outcome.kind == EvictionBook::Outcome::Kind::kDropped) {
      tools_.on_dropped(outcome.order.job, outcome.why);
    }
  }
}

kube::Call Evictor::ToCall(const EvictionStep& step) const {
  const Time now = tools_.clock.Now();
  const kube::DeleteOptions options{
      .grace_seconds = {}, .uid = step.pod.uid, .version = {}, .propagation = {}};
  switch (step.kind) {
    case Kind::kNominate:
    case Kind::kClear:
      return StatusCall(step.pod, NominationPatch(step.pod, step.node));
    case Kind::kMark:
      return StatusCall(step.pod, MarkPatch(*book_.Find(step.plan), step.pod, now));
    case Kind::kUnmark:
      return StatusCall(step.pod, UnmarkPatch(step.pod, now));
    case Kind::kDelete:
      return kube::DeleteCall({kube::kPods, step.pod.ns, step.pod.name, ""}, options);
    case Kind::kTryOut: {
      kube::Call call = kube::EvictCall(step.pod, options);
      call.query = "dryRun=All";
      call.repeat = kube::Repeat::kHarmless;
      return call;
    }
    case Kind::kEvict:
      return kube::EvictCall(step.pod, options);
  }
  return {};
}

}  // namespace strata::live
