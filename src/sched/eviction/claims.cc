#include "sched/eviction/claims.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/check.h"
#include "sched/eviction/plan_text.h"
#include "sched/lifecycle.h"
#include "sched/verdict.h"

namespace strata {
namespace {

// The lowest HyperNode above all nodes; none without nodes.
HyperNodeId CommonAbove(const HyperNodeTree& tree, const std::vector<NodeId>& nodes) {
  if (nodes.empty()) return HyperNodeId{};
  const auto first = tree.HyperNodesOf(tree.ChainOf(nodes.front()));
  const auto* const common =
      std::find_if(first.data(), first.data() + first.size(), [&](HyperNodeId hypernode) {
        return std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) {
          return tree.Contains(hypernode, node);
        });
      });
  return *common;  // the top is in every chain
}

bool IsThere(const WorkloadTable& workload, const GangClaim::Victim& victim) {
  const std::vector<TaskId> tasks = workload.AllTasks();
  return std::any_of(tasks.begin(), tasks.end(), [&](TaskId id) {
    const Task& task = workload.task(id);
    return task.name == victim.name && task.uid == victim.uid;
  });
}

}  // namespace

std::vector<CycleClaims::Living> CycleClaims::InOrder() {
  const WorkloadTable& workload = session_.state().workload();
  std::vector<Living> order;
  std::vector<std::string> gone;
  for (auto& [name, claim] : book_.claims_) {
    const auto job = workload.FindJob(name);
    if (job && workload.job(*job).spec.uid == claim.uid) {
      order.emplace_back(&claim, *job);
    } else {
      gone.push_back(name);
    }
  }
  for (const std::string& job : gone) End(job, ClaimEnd::Kind::kInVain, "the job is gone");
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    const Job& left = workload.job(a.second);
    const Job& right = workload.job(b.second);
    return std::tie(right.spec.priority, a.first->since, a.first->job) <
           std::tie(left.spec.priority, b.first->since, b.first->job);
  });
  return order;
}

void CycleClaims::GiveUp(const GangClaim& claim, std::string why) {
  const bool is_void = claim.recovered && claim.victims.empty();
  const auto kind = is_void ? ClaimEnd::Kind::kVoid : ClaimEnd::Kind::kInVain;
  End(claim.job, kind, std::move(why));
}

void CycleClaims::Begin() {
  // All of them hold their room before one of them looks for room elsewhere.
  std::vector<Living> held;
  for (const auto& [claim, job] : InOrder()) {
    Found found;
    auto over = Look(*claim, job, found);
    if (!over && !Hold(*claim, job, found)) over = "its nodes no longer have the room";
    if (over) {
      GiveUp(*claim, *std::move(over));
    } else {
      held.emplace_back(claim, job);
    }
  }
  for (const auto& [claim, job] : held) {
    const Found found = held_.extract(job).mapped();
    GiveBack(found);
    if (Start(*claim, job, found)) {
      End(claim->job, ClaimEnd::Kind::kStarted, "");
      continue;
    }
    auto over = WhyLate(*claim);
    if (!over && !Hold(*claim, job, found)) over = "its nodes no longer have the room";
    if (over) {
      GiveUp(*claim, *std::move(over));
    } else {
      Tell(*claim, job);
    }
  }
  if (session_.attempts() != nullptr) session_.attempts()->FollowHeld();
}

std::optional<std::string> CycleClaims::Look(const GangClaim& claim, JobId id, Found& found) {
  const ClusterState& state = session_.state();
  const Job& job = state.workload().job(id);
  if (ShapeOf(job.spec) != claim.shape) return "the gang has changed";
  if (!job.queue.valid() || session_.topologies().WhyImpossible(id) ||
      session_.plugins().JobInvalid(job)) {
    return "the gang cannot start any more";
  }
  const HyperNodeTree& tree = session_.tree();
  const auto domain = claim.hypernode.empty() ? tree.top() : tree.Find(claim.hypernode);
  if (!domain) return fmt::format("HyperNode {} is gone", claim.hypernode);
  std::map<std::string_view, TaskId> pending;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId task : sub_job.tasks) {
      const Task& the_task = state.workload().task(task);
      if (the_task.status == TaskStatus::kPending && !the_task.gated) {
        pending.emplace(the_task.name, task);
      }
    }
  }
  for (const GangClaim::Pod& pod : claim.pods) {
    const auto task = pending.find(pod.name);
    if (task == pending.end() || state.workload().task(task->second).uid != pod.uid) {
      return fmt::format("pod {} does not wait any more", pod.name);
    }
    const auto node = state.nodes().Find(pod.node);
    if (!node) return fmt::format("node {} is gone", pod.node);
    if (!tree.Contains(*domain, *node)) {
      return fmt::format("node {} is no longer in HyperNode {}", pod.node, claim.hypernode);
    }
    found.emplace_back(task->second, *node);
  }
  if (!IsWithinLimits(id, found)) return "the places are too far apart now";
  return std::nullopt;
}

// HyperNodes may have changed, or the claim may be an old one.
bool CycleClaims::IsWithinLimits(JobId id, const Found& found) const {
  const HyperNodeTree& tree = session_.tree();
  const WorkloadTable& workload = session_.state().workload();
  std::vector<NodeId> of_job;
  std::map<std::size_t, std::vector<NodeId>> of_sub_job;
  const auto add = [&](TaskId task, NodeId node) {
    of_job.push_back(node);
    of_sub_job[workload.task(task).sub_job].push_back(node);
  };
  for (const auto& [task, node] : found) add(task, node);
  for (const SubJob& sub_job : workload.job(id).sub_jobs) {
    for (const TaskId task : sub_job.tasks) {
      const Task& the_task = workload.task(task);
      if (IsAllocated(the_task.status) && the_task.node.valid()) add(task, the_task.node);
    }
  }
  const auto fits = [&](const TopologyLimit& limit, const std::vector<NodeId>& nodes) {
    return limit.kind != TopologyLimit::Kind::kBounded || nodes.empty() ||
           tree.at(CommonAbove(tree, nodes)).tier <= limit.tier;
  };
  return fits(session_.topologies().LimitOf(id), of_job) &&
         std::all_of(of_sub_job.begin(), of_sub_job.end(), [&](const auto& entry) {
           return fits(session_.topologies().LimitOf(id, entry.first), entry.second);
         });
}

std::optional<std::string> CycleClaims::WhyLate(GangClaim& claim) const {
  const Time now = session_.now();
  for (auto victim = claim.victims.begin(); victim != claim.victims.end();) {
    if (now < victim->until) {
      ++victim;
    } else if (IsThere(session_.state().workload(), *victim)) {
      return fmt::format("pod {} is still there {} s after its grace period",
                         victim->name,
                         kVictimPatience / std::chrono::seconds(1));
    } else {
      victim = claim.victims.erase(victim);
    }
  }
  if (claim.victims.empty()) return "nobody is left who had to go, and its nodes are not free";
  return std::nullopt;
}

bool CycleClaims::Start(const GangClaim& claim, JobId job, const Found& found) {
  if (!session_.HasAction("allocate")) return false;
  const bool started = StartThere(claim, job, found) || StartElsewhere(job, found.size());
  session_.meter().Charge(session_.state().workload().job(job).queue, WorkMeter::Account::kFirst);
  if (started) session_.Commit(job);
  return started;
}

bool CycleClaims::PlaceAll(const GangClaim& claim, const Found& found, DevicePoint::When when) {
  const HyperNodeTree& tree = session_.tree();
  const HyperNodeId domain = tree.Find(claim.hypernode).value_or(tree.top());
  const auto place = [&](const auto& pod) {
    const auto& [task, node] = pod;
    if (session_.plugins().ExhaustedForGood(task)) return false;
    auto& view = session_.views().Of(session_.state().workload().task(task).class_id);
    if (!(when == DevicePoint::When::kNow ? view.Takes(node) : view.FitsFuture(node))) return false;
    session_.Place(task, node, when, domain);
    return true;
  };
  // Rules about other pods may ask for one of the gang that comes later.
  Found left = found;
  for (std::size_t before = left.size() + 1; !left.empty() && left.size() < before;) {
    before = left.size();
    std::erase_if(left, place);
  }
  return left.empty();
}

bool CycleClaims::StartThere(const GangClaim& claim, JobId job, const Found& found) {
  Journal& journal = session_.state().journal();
  const Journal::Savepoint begin = journal.Mark();
  if (PlaceAll(claim, found, DevicePoint::When::kNow) &&
      session_.plugins().JobReady(session_.state().workload().job(job))) {
    for (const auto& [task, node] : found) search_.ExtendAllocatedBy(task, session_.tree().top());
    return true;
  }
  journal.RollbackTo(begin);
  return false;
}

// A gang is placed at once, further replicas of a job that runs one after the other.
bool CycleClaims::StartElsewhere(JobId job, std::size_t pods) {
  Journal& journal = session_.state().journal();
  const Journal::Savepoint begin = journal.Mark();
  Worksheet worksheet(session_, job);
  while (!worksheet.empty() && search_.Run(job, worksheet, Pass::kReady).ok) {
    if (!session_.plugins().JobReady(session_.state().workload().job(job))) break;
    if (journal.PlacedSince(begin).size() >= pods) return true;
  }
  journal.RollbackTo(begin);
  return false;
}

bool CycleClaims::Hold(const GangClaim& claim, JobId job, const Found& found) {
  Journal& journal = session_.state().journal();
  const Journal::Savepoint begin = journal.Mark();
  if (!PlaceAll(claim, found, DevicePoint::When::kFuture) ||
      !session_.plugins().JobPipelined(session_.state().workload().job(job))) {
    journal.RollbackTo(begin);
    return false;
  }
  journal.Hold();
  held_.insert_or_assign(job, found);
  return true;
}

void CycleClaims::Tell(const GangClaim& claim, JobId job) {
  Refusal waiting = ExplainWaiting(session_, job);
  waiting.message += "; " + claim.evicts;
  session_.SetVerdict(job, std::move(waiting));
}

bool CycleClaims::LiftFor(JobId job) {
  CHECK(lifted_.empty());
  const WorkloadTable& workload = session_.state().workload();
  for (const auto& [claimant, found] : held_) {
    if (workload.job(claimant).spec.priority >= workload.job(job).spec.priority) continue;
    lifted_.push_back(claimant);
  }
  for (const JobId claimant : lifted_) GiveBack(held_.at(claimant));
  return !lifted_.empty();
}

void CycleClaims::GiveBack(const Found& found) {
  std::vector<TaskId> tasks;
  for (const auto& [task, node] : found) tasks.push_back(task);
  session_.state().journal().GiveBack(tasks);
}

void CycleClaims::Restore() {
  const WorkloadTable& workload = session_.state().workload();
  for (const JobId claimant : std::exchange(lifted_, {})) {
    const std::string name = workload.job(claimant).spec.name;
    const Found found = held_.extract(claimant).mapped();
    if (Hold(book_.claims_.at(name), claimant, found)) continue;
    End(name, ClaimEnd::Kind::kTaken, "a job of higher priority needed the room");
  }
}

void CycleClaims::End(const std::string& job, ClaimEnd::Kind kind, std::string why) {
  const auto it = book_.claims_.find(job);
  CHECK(it != book_.claims_.end());
  if (kind != ClaimEnd::Kind::kStarted) book_.given_up_[it->second.uid] = why;
  if (session_.attempts() != nullptr) {
    if (const auto id = session_.state().workload().FindJob(job)) {
      session_.attempts()->Forget(*id);
    }
  }
  ended_.push_back({std::move(it->second), kind, std::move(why)});
  book_.claims_.erase(it);
}

bool CycleClaims::HasGivenUp() const {
  return std::any_of(ended_.begin(), ended_.end(), [](const ClaimEnd& end) {
    return end.kind == ClaimEnd::Kind::kInVain || end.kind == ClaimEnd::Kind::kVoid;
  });
}

void CycleClaims::Close(CycleResult& result) {
  const ClusterState& state = session_.state();
  for (const CycleResult::EvictionPlan& plan : result.evictions) {
    if (plan.TakesBack()) continue;
    const Job& job = state.workload().job(plan.claimant);
    GangClaim claim{.job = job.spec.name,
                    .uid = job.spec.uid,
                    .shape = ShapeOf(job.spec),
                    .hypernode = plan.hypernode,
                    .evicts = plan.action + " evicts " + SummaryOf(plan),
                    .pods = {},
                    .victims = {},
                    .since = session_.now()};
    for (const CycleResult::Bind& place : result.pipelined) {
      const Task& task = state.workload().task(place.task);
      if (task.job != plan.claimant) continue;
      claim.pods.push_back({task.name, task.uid, state.nodes().spec(place.node).name});
    }
    for (const CycleResult::EvictionPlan::Victim& victim : plan.victims) {
      for (const TaskId id : victim.tasks) {
        const Task& task = state.workload().task(id);
        const std::chrono::seconds grace(task.disruption.grace_seconds);
        claim.victims.push_back({task.name, task.uid, session_.now() + grace + kVictimPatience});
      }
    }
    book_.Add(std::move(claim));
  }
  std::map<std::string, std::string> given_up;
  for (auto& [job, verdict] : result.verdicts) {
    const auto why = book_.given_up_.find(state.workload().job(job).spec.uid);
    if (why == book_.given_up_.end()) continue;
    verdict.message += "; the room made for it earlier was given up: " + why->second;
    given_up.insert(*why);
  }
  book_.given_up_ = std::move(given_up);
  std::erase_if(book_.refused_,
                [&](const auto& entry) { return session_.now() >= entry.second.until; });
  result.ended = std::move(ended_);
  result.claims = book_.all().size();
  if (const auto due = book_.NextDeadline()) {
    result.again_at = std::min(result.again_at.value_or(*due), *due);
  }
}

}  // namespace strata
