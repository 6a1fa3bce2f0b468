#include "controllers/queue_reconcile.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "controllers/object_meta.h"
#include "json/access.h"

namespace strata::controllers {
namespace {

using nlohmann::json;

constexpr std::string_view kRoot = "root";

struct Counter {
  const char* key;
  std::int64_t GroupCounts::*count;
};
constexpr std::array<Counter, 5> kCounters = {{{"pending", &GroupCounts::pending},
                                               {"inqueue", &GroupCounts::inqueue},
                                               {"running", &GroupCounts::running},
                                               {"unknown", &GroupCounts::unknown},
                                               {"completed", &GroupCounts::completed}}};

bool IsShut(const std::string& state) {
  return state == "Closed" || state == "Closing";
}

std::int64_t& CounterFor(GroupCounts& counts, const std::string& phase) {
  if (phase == "Inqueue") return counts.inqueue;
  if (phase == "Running") return counts.running;
  if (phase == "Unknown") return counts.unknown;
  if (phase == "Completed") return counts.completed;
  return counts.pending;
}

class QueuePlanner {
 public:
  explicit QueuePlanner(const QueueView& view) : view_(view), queue_(*view.queue) {}

  Plan Make() {
    const std::string before = TextAt(queue_, {"status", "state"});
    open_ = !IsShut(before);
    for (const ObjectRef& command : view_.commands) Obey(*command);
    FollowParent();
    const bool empty = view_.groups == GroupCounts{.completed = view_.groups.completed};
    const std::string state = open_ ? "Open" : (empty ? "Closed" : "Closing");
    json status = json::object();
    if (state != before) status["state"] = state;
    for (const Counter& counter : kCounters) {
      const std::int64_t count = view_.groups.*counter.count;
      if (IntegerAt(queue_, {"status", counter.key}) != count) status[counter.key] = count;
    }
    PatchSpec();
    if (!status.empty()) {
      Write write = PatchOf(kube::kQueues, queue_, {{"status", std::move(status)}});
      write.subresource = "status";
      AddStep(plan_, {std::move(write)});
    }
    std::vector<Write> taken;
    for (const ObjectRef& command : view_.commands) {
      taken.push_back(DeleteOf(kube::kCommands, *command));
    }
    AddStep(plan_, std::move(taken));
    return std::move(plan_);
  }

 private:
  const std::string& Name() const { return TextAt(queue_, {"metadata", "name"}); }
  bool ParentIsShut() const {
    return view_.parent != nullptr && IsShut(TextAt(*view_.parent, {"status", "state"}));
  }
  bool IsMarked() const {
    return FindAt(queue_, {"metadata", "annotations", kClosedByParentKey}) != nullptr;
  }

  void Obey(const json& command) {
    const std::string& action = TextAt(command, {"action"});
    if (action == "CloseQueue") {
      open_ = false;
      return Tell(kube::EventNote::Type::kNormal, "CommandIssued", "the queue is closed");
    }
    if (action != "OpenQueue") return;
    if (ParentIsShut()) {
      return Tell(kube::EventNote::Type::kWarning,
                  "CommandRefused",
                  fmt::format("the queue cannot be opened while its parent {} is closed",
                              TextAt(*view_.parent, {"metadata", "name"})));
    }
    open_ = true;
    Tell(kube::EventNote::Type::kNormal, "CommandIssued", "the queue is opened");
  }

  void FollowParent() {
    marked_ = IsMarked();
    if (ParentIsShut() && open_) {
      open_ = false;
      marked_ = true;
    } else if (!ParentIsShut() && marked_) {
      open_ = true;
      marked_ = false;
    }
  }

  void PatchSpec() {
    json patch = json::object();
    if (marked_ != IsMarked()) {
      patch["metadata"]["annotations"][std::string(kClosedByParentKey)] =
          marked_ ? json("true") : json();
    }
    if (Name() != kRoot && TextAt(queue_, {"spec", "parent"}).empty()) {
      patch["spec"]["parent"] = kRoot;
    }
    if (!patch.empty()) AddStep(plan_, {PatchOf(kube::kQueues, queue_, patch)});
  }

  void Tell(kube::EventNote::Type type, std::string reason, std::string message) {
    plan_.events.push_back({.about = ReferenceTo(kube::kQueues, queue_),
                            .type = type,
                            .reason = std::move(reason),
                            .message = std::move(message)});
  }

  const QueueView& view_;
  const json& queue_;
  bool open_ = true;
  bool marked_ = false;
  Plan plan_;
};

}  // namespace

std::map<std::string, GroupCounts> CountGroups(const std::vector<ObjectRef>& groups) {
  std::map<std::string, GroupCounts> counts;
  for (const ObjectRef& group : groups) {
    const std::string& queue = TextAt(*group, {"spec", "queue"});
    ++CounterFor(counts[queue.empty() ? "default" : queue], TextAt(*group, {"status", "phase"}));
  }
  return counts;
}

Plan ReconcileQueue(const QueueView& view) {
  return QueuePlanner(view).Make();
}

}  // namespace strata::controllers
