#include "live/node_locker.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "convert/gpu_dialect.h"
#include "convert/node_lock.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::live {
namespace {

constexpr int kNodeChanged = 409;

std::optional<LockedPod> FindLockedPod(const ClusterFeed& feed,
                                       GpuDialect dialect,
                                       const std::string& name) {
  const objects::Pod* const pod = feed.FindPod(name);
  if (pod == nullptr) return std::nullopt;
  return LockedPod{.uid = pod->meta.uid,
                   .node = pod->spec.node_name,
                   .ours = feed.takes()(*pod),
                   .agent = ReadAgentProgress(*pod, dialect)};
}

bool IsOf(const BindOrder& order, const NodeLockBook& book) {
  return order.annotations.contains(std::string(NamesOf(book.dialect()).bind_phase)) &&
         book.Has(order.node);
}

kube::Call LockCall(const LockStep& step, const std::string& annotation) {
  nlohmann::ordered_json patch;
  patch["metadata"]["resourceVersion"] = step.version;
  nlohmann::ordered_json& lock = patch["metadata"]["annotations"][annotation];
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
      books_{MakeBook(kGpuDialects[0]), MakeBook(kGpuDialects[1])} {}

NodeLockBook NodeLocker::MakeBook(GpuDialect dialect) const {
  return {dialect,
          [&feed = tools_.feed, dialect](const std::string& pod) {
            return FindLockedPod(feed, dialect, pod);
          },
          tools_.random};
}

bool NodeLocker::Needs(const BindOrder& order) const {
  return std::any_of(
      books_.begin(), books_.end(), [&](const NodeLockBook& book) { return IsOf(order, book); });
}

void NodeLocker::Add(BindOrder order) {
  const auto book = std::find_if(
      books_.begin(), books_.end(), [&](const NodeLockBook& one) { return IsOf(order, one); });
  CHECK(book != books_.end());
  book->Add(std::move(order));
}

void NodeLocker::TakeOutcome(const Binder::Outcome& outcome) {
  for (NodeLockBook& book : books_) {
    if (IsOf(outcome.order, book)) book.TakeBind(outcome, tools_.now());
  }
}

std::optional<net::SteadyTime> NodeLocker::NextDue() const {
  std::optional<net::SteadyTime> next;
  for (const NodeLockBook& book : books_) {
    const auto due = book.NextDue();
    if (due) next = std::min(next.value_or(*due), *due);
  }
  return next;
}

NodeLockBook::Moment NodeLocker::ThisMoment() const {
  return {.wall = tools_.clock.Now(), .steady = tools_.now()};
}

void NodeLocker::SeeNode(const std::string& node, const std::string& version) {
  const objects::Node* const seen = tools_.feed.FindNode(node);
  for (NodeLockBook& book : books_) {
    if (seen == nullptr) {
      book.DropNode(node, NodeLockBook::Why::kGone);
    } else if (!NeedsNodeLock(seen->meta.annotations, book.dialect())) {
      book.DropNode(node, NodeLockBook::Why::kNeedsNoLock);
    } else {
      const auto lock = ReadNodeLock(seen->meta.annotations, book.dialect());
      book.SeeNode(node, version, lock, tools_.now());
    }
  }
}

void NodeLocker::SeePod(const std::string& pod) {
  for (NodeLockBook& book : books_) book.SeePod(pod, ThisMoment());
}

void NodeLocker::DoDue() {
  for (NodeLockBook& book : books_) {
    if (const auto due = book.NextDue(); !due || tools_.now() < *due) continue;
    for (LockStep& step : book.Next(ThisMoment())) Do(book, std::move(step));
  }
}

void NodeLocker::Do(NodeLockBook& book, LockStep step) {
  switch (step.kind) {
    case LockStep::Kind::kLock:
    case LockStep::Kind::kUnlock:
      Write(book, step);
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

void NodeLocker::Write(NodeLockBook& book, const LockStep& step) {
  if (step.breaks) {
    tools_.log.Warning("breaking the lock of a node: its owner is gone or it is too old",
                       {{"node", step.node}, {"lock", step.old_lock}});
  }
  const std::string annotation(NamesOf(book.dialect()).lock);
  tools_.calls.Submit(
      fmt::format("locks/{}/{}", annotation, step.node),
      LockCall(step, annotation),
      CallQueue::Urgency::kUrgent,
      [this, &book, mailbox = mailbox_, step](const kube::Reply& reply) {
        mailbox->Post([this, &book, step, reply] { TakeAnswer(book, step, reply); });
      });
}

void NodeLocker::TakeAnswer(NodeLockBook& book, const LockStep& step, const kube::Reply& reply) {
  const std::string error = reply ? "" : reply.error().error.message;
  const std::string version =
      reply ? TextAt(ParseJsonOrNull(*reply), {"metadata", "resourceVersion"}) : "";
  if (!reply && reply.error().http_status != kNodeChanged) {
    tools_.log.Warning("lock of a node: a write failed", {{"node", step.node}, {"err", error}});
  }
  book.Take(step, LockAnswerOf(reply), version, error, tools_.now());
}

}  // namespace strata::live
