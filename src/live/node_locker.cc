#include "live/node_locker.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "convert/node_lock.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::live {
namespace {

constexpr int kNodeChanged = 409;

std::optional<LockedPod> FindLockedPod(const ClusterFeed& feed, const std::string& name) {
  const objects::Pod* const pod = feed.FindPod(name);
  if (pod == nullptr) return std::nullopt;
  return LockedPod{.uid = pod->meta.uid,
                   .node = pod->spec.node_name,
                   .ours = feed.takes()(*pod),
                   .agent = ReadAgentProgress(*pod)};
}

kube::Call LockCall(const LockStep& step) {
  nlohmann::ordered_json patch;
  patch["metadata"]["resourceVersion"] = step.version;
  nlohmann::ordered_json& lock = patch["metadata"]["annotations"][std::string(kNodeLockAnnotation)];
  if (step.kind == LockStep::Kind::kLock) lock = step.lock;
  return kube::PatchCall({kube::kNodes, "", step.node, ""},
                         {.type = kube::PatchType::kMerge, .field_manager = ""},
                         DumpJson(patch));
}

LockAnswer LockAnswerOf(const kube::Reply& reply) {
  if (reply) return LockAnswer::kDone;
  const int status = reply.error().http_status;
  const bool for_good = status == 403 || status == 404 || status == 422;
  return for_good ? LockAnswer::kRefused : LockAnswer::kNone;
}

}  // namespace

NodeLocker::NodeLocker(Tools tools, std::shared_ptr<kube::Mailbox> mailbox)
    : tools_(std::move(tools)),
      mailbox_(std::move(mailbox)),
      book_([&feed = tools_.feed](const std::string& pod) { return FindLockedPod(feed, pod); },
            tools_.random) {}

bool NodeLocker::Needs(const BindOrder& order) const {
  return order.annotations.contains(std::string(kBindPhaseAnnotation)) && book_.Has(order.node);
}

NodeLockBook::Moment NodeLocker::ThisMoment() const {
  return {.wall = tools_.clock.Now(), .steady = tools_.now()};
}

void NodeLocker::SeeNode(const std::string& node, const std::string& version) {
  const objects::Node* const seen = tools_.feed.FindNode(node);
  if (seen == nullptr) return book_.DropNode(node, NodeLockBook::Why::kGone);
  if (!NeedsNodeLock(seen->meta.annotations)) {
    return book_.DropNode(node, NodeLockBook::Why::kNeedsNoLock);
  }
  book_.SeeNode(node, version, ReadNodeLock(seen->meta.annotations), tools_.now());
}

void NodeLocker::SeePod(const std::string& pod) {
  book_.SeePod(pod, ThisMoment());
}

void NodeLocker::DoDue() {
  if (const auto due = book_.NextDue(); !due || tools_.now() < *due) return;
  for (LockStep& step : book_.Next(ThisMoment())) {
    switch (step.kind) {
      case LockStep::Kind::kLock:
      case LockStep::Kind::kUnlock:
        Write(step);
        break;
      case LockStep::Kind::kBind:
        tools_.bind(std::move(step.order));
        break;
      case LockStep::Kind::kFail:
        tools_.on_failed(
            {Binder::Outcome::Kind::kFailed, std::move(step.order), std::move(step.error)});
        break;
      case LockStep::Kind::kTell:
        tools_.log.Info("waiting for the lock of a node",
                        {{"node", step.node}, {"lock", step.old_lock}});
        break;
    }
  }
}

void NodeLocker::Write(const LockStep& step) {
  if (step.breaks) {
    tools_.log.Warning("breaking the lock of a node: its owner is gone or it is too old",
                       {{"node", step.node}, {"lock", step.old_lock}});
  }
  tools_.calls.Submit("locks/" + step.node,
                      LockCall(step),
                      CallQueue::Urgency::kUrgent,
                      [this, mailbox = mailbox_, step](const kube::Reply& reply) {
                        mailbox->Post([this, step, reply] { TakeAnswer(step, reply); });
                      });
}

void NodeLocker::TakeAnswer(const LockStep& step, const kube::Reply& reply) {
  const std::string error = reply ? "" : reply.error().error.message;
  const std::string version =
      reply ? TextAt(ParseJsonOrNull(*reply), {"metadata", "resourceVersion"}) : "";
  if (!reply && reply.error().http_status != kNodeChanged) {
    tools_.log.Warning("lock of a node: a write failed", {{"node", step.node}, {"err", error}});
  }
  book_.Take(step, LockAnswerOf(reply), version, error, tools_.now());
}

}  // namespace strata::live
