// A long stream of events reaches a state one by one, with cycles in between. At every cycle it
// must be what a state built afresh from the objects of that moment is, and decide the same.
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/check.h"
#include "tests/property/objects.h"
#include "tests/property/world.h"
#include "tests/support/cycle.h"
#include "tests/support/property.h"
#include "tests/support/recount.h"
#include "tests/support/state_dump.h"

namespace strata::testing {
namespace {

// What happens, to which of the objects of that kind, and how.
struct Happening {
  int what = 0, which = 0, how = 0;
};

void showValue(const Happening& event, std::ostream& os) {  // NOLINT(readability-identifier-naming)
  os << '{' << event.what << ',' << event.which << ',' << event.how << '}';
}

constexpr int kKinds = 15;

rc::Gen<Happening> AnyHappening() {
  return rc::gen::build<Happening>(rc::gen::set(&Happening::what, Below(kKinds)),
                                   rc::gen::set(&Happening::which, Below(30)),
                                   rc::gen::set(&Happening::how, Below(12)));
}

// Any number of them up to 120, so that what fails can be made short.
rc::Gen<std::vector<Happening>> AnyStream() {
  return rc::gen::resize(120, rc::gen::container<std::vector<Happening>>(AnyHappening()));
}

template <typename Map>
auto OneOf(Map& map, int which) {
  return map.empty() ? map.end() : std::next(map.begin(), which % static_cast<int>(map.size()));
}

// The objects and the state that hears of every change of them.
class Stream {
 public:
  explicit Stream(const World& world)
      : objects_(ObjectsOf(world)), state_(objects_.Make()), cycles_(*state_) {}

  void Happen(const Happening& event) {
    using Handler = void (Stream::*)(const Happening&);
    constexpr std::array<Handler, kKinds> kHandlers = {&Stream::Cycle,
                                                       &Stream::ToggleNode,
                                                       &Stream::ChangeNode,
                                                       &Stream::ToggleHyperNode,
                                                       &Stream::ChangeHyperNode,
                                                       &Stream::ChangeQueue,
                                                       &Stream::AddQueue,
                                                       &Stream::RemoveQueue,
                                                       &Stream::ChangeJob,
                                                       &Stream::RemoveJob,
                                                       &Stream::AddPod,
                                                       &Stream::AddPod,
                                                       &Stream::RemovePod,
                                                       &Stream::MovePodOn,
                                                       &Stream::MovePodOn};
    (this->*kHandlers[static_cast<std::size_t>(event.what)])(event);
  }

  void Cycle(const Happening& /*event*/) {
    const auto fresh = objects_.Make();
    RC_ASSERT(RecountMistakes(*state_) == "");
    RC_ASSERT(DumpState(*state_) == DumpState(*fresh));
    std::ostringstream kept_decisions;
    std::ostringstream fresh_decisions;
    kept_decisions << cycles_.Run();
    fresh_decisions << RunCycle(*fresh);
    RC_LOG() << "cycle:\n" << kept_decisions.str() << "afresh:\n" << fresh_decisions.str();
    RC_ASSERT(kept_decisions.str() == fresh_decisions.str());
    RC_ASSERT(DumpState(*state_) == DumpState(*fresh));
    objects_.Follow(*state_);
  }

 private:
  void ToggleNode(const Happening& event) {
    const auto gone = OneOf(nodes_gone_, event.which);
    if (event.how % 2 == 0 && gone != nodes_gone_.end()) {
      CHECK(state_->UpsertNode(gone->second).has_value());
      objects_.nodes.insert(nodes_gone_.extract(gone));
      return;
    }
    const auto node = OneOf(objects_.nodes, event.which);
    if (node == objects_.nodes.end()) return;
    state_->RemoveNode(*state_->nodes().Find(node->first));
    nodes_gone_.insert(objects_.nodes.extract(node));
  }

  void ChangeNode(const Happening& event) {
    const auto node = OneOf(objects_.nodes, event.which);
    if (node == objects_.nodes.end()) return;
    NodeSpec& spec = node->second;
    const Amount cpu = spec.allocatable.Get(kCpu);
    if (event.how % 5 == 0) spec.allocatable.Set(kCpu, cpu / 2);
    if (event.how % 5 == 1) spec.allocatable.Set(kCpu, cpu * 2);
    if (event.how % 5 == 2) spec.unschedulable = !spec.unschedulable;
    if (event.how % 5 == 3) SetLabel(spec, "zone", event.how == 3 ? "a" : "b");
    if (event.how % 5 == 4) {
      spec.taints = spec.taints.empty() ? std::vector<Taint>{kKeepOut} : std::vector<Taint>{};
    }
    CHECK(state_->UpsertNode(spec).has_value());
  }

  void ToggleHyperNode(const Happening& event) {
    const auto gone = OneOf(hypernodes_gone_, event.which);
    if (event.how % 2 == 0 && gone != hypernodes_gone_.end()) {
      state_->UpsertHyperNode(gone->second);
      objects_.hypernodes.insert(hypernodes_gone_.extract(gone));
      return;
    }
    const auto hypernode = OneOf(objects_.hypernodes, event.which);
    if (hypernode == objects_.hypernodes.end()) return;
    state_->RemoveHyperNode(hypernode->first);
    hypernodes_gone_.insert(objects_.hypernodes.extract(hypernode));
  }

  void ChangeHyperNode(const Happening& event) {
    const auto hypernode = OneOf(objects_.hypernodes, event.which);
    if (hypernode == objects_.hypernodes.end()) return;
    HyperNodeSpec& spec = hypernode->second;
    if (event.how % 3 == 0) spec.tier = 1 + event.how / 3;
    if (event.how % 3 == 1 && !spec.members.empty()) spec.members.pop_back();
    if (event.how % 3 == 2 && !objects_.nodes.empty()) {
      spec.members.emplace_back().kind = HyperNodeMember::Kind::kNode;
      spec.members.back().selector =
          HyperNodeMember::Exact{OneOf(objects_.nodes, event.how)->first};
    }
    state_->UpsertHyperNode(spec);
  }

  void ChangeQueue(const Happening& event) {
    const auto queue = OneOf(objects_.queues, event.which);
    if (queue == objects_.queues.end()) return;
    QueueSpec& spec = queue->second;
    if (event.how % 3 == 0) spec.weight = 1 + event.how;
    if (event.how % 3 == 1) spec.open = !spec.open;
    if (event.how % 3 == 2) spec.capability[kCpu] = 1000 * event.how;
    state_->workload().UpsertQueue(spec);
  }

  void AddQueue(const Happening& event) {
    QueueSpec spec;
    spec.name = event.how % 2 == 0 ? "none" : "late" + std::to_string(event.how);
    spec.uid = spec.name;
    objects_.queues.insert_or_assign(spec.name, spec);
    state_->workload().UpsertQueue(spec);
  }

  void RemoveQueue(const Happening& event) {
    if (event.how % 3 != 0 || objects_.queues.size() < 2) return;
    const auto queue = OneOf(objects_.queues, event.which);
    state_->workload().RemoveQueue(*state_->workload().FindQueue(queue->first));
    objects_.queues.erase(queue);
  }

  void ChangeJob(const Happening& event) {
    const auto job = OneOf(objects_.jobs, event.which);
    if (job == objects_.jobs.end()) return;
    JobSpec& spec = job->second;
    switch (event.how % 6) {
      case 0:
        spec.min_available = event.how / 2;
        break;
      case 1:
        spec.priority = event.how;
        break;
      case 2:
        spec.queue = OneOf(objects_.queues, event.how)->first;
        break;
      case 3:
        spec.topology.mode = event.how == 3 ? TopologySpec::Mode::kHard : TopologySpec::Mode::kSoft;
        break;
      case 4:
        for (SubGroupPolicy& policy : spec.sub_groups) {
          policy.size = 1 + event.how / 6;
          policy.topology = {};
        }
        break;
      default:
        spec.min_task_member["b"] = event.how / 6;
        break;
    }
    state_->workload().UpsertJob(spec);
  }

  void RemoveJob(const Happening& event) {
    if (event.how != 0) return;  // rarely, or there would soon be none
    const auto job = OneOf(objects_.jobs, event.which);
    if (job == objects_.jobs.end()) return;
    const std::string name = job->first;
    std::erase_if(objects_.tasks, [&](const auto& entry) { return entry.second.job == name; });
    objects_.noted.erase(name);
    objects_.jobs.erase(job);
    state_->workload().RemoveJob(*state_->workload().FindJob(name));
  }

  // One like another, pending or already on some node.
  void AddPod(const Happening& event) {
    const auto like = OneOf(objects_.tasks, event.which);
    if (like == objects_.tasks.end()) return;
    Objects::Pod pod = like->second;
    pod.spec.name = pod.job + "-more-" + std::to_string(++added_);
    pod.spec.uid = pod.spec.name;
    pod.spec.status = TaskStatus::kPending;
    pod.spec.node_name = "";
    pod.spec.gpus = {};
    const auto node = OneOf(objects_.nodes, event.how);
    if (event.how % 3 == 0 && node != objects_.nodes.end()) {
      pod.spec.status = event.how % 2 == 0 ? TaskStatus::kBound : TaskStatus::kRunning;
      pod.spec.node_name = node->first;
    }
    TaskSpec spec = pod.spec;
    spec.job = *state_->workload().FindJob(pod.job);
    state_->workload().AddTask(std::move(spec));
    objects_.tasks.emplace(pod.spec.name, std::move(pod));
  }

  void RemovePod(const Happening& event) {
    const auto task = OneOf(objects_.tasks, event.which);
    if (task == objects_.tasks.end()) return;
    state_->workload().RemoveTask(Find(task->first));
    const auto noted = objects_.noted.find(task->second.job);
    if (noted != objects_.noted.end()) {  // with the last pod of a sub-group goes what was noted
      const Job& job = state_->workload().job(*state_->workload().FindJob(task->second.job));
      std::erase_if(noted->second.parts, [&](const auto& part) {
        return std::none_of(job.sub_jobs.begin(), job.sub_jobs.end(), [&](const SubJob& sub_job) {
          return sub_job.name == part.first;
        });
      });
    }
    objects_.tasks.erase(task);
  }

  // Bound, running, terminating or finished, gone.
  void MovePodOn(const Happening& event) {
    const auto task = OneOf(objects_.tasks, event.which);
    if (task == objects_.tasks.end()) return;
    TaskSpec& spec = task->second.spec;
    switch (spec.status) {
      case TaskStatus::kBinding:
        spec.status = TaskStatus::kBound;
        break;
      case TaskStatus::kBound:
        spec.status = TaskStatus::kRunning;
        break;
      case TaskStatus::kRunning:
        spec.status = event.how % 2 == 0 ? TaskStatus::kReleasing : TaskStatus::kSucceeded;
        break;
      case TaskStatus::kReleasing:
        RemovePod(event);
        return;
      default:
        return;
    }
    state_->workload().SetTaskStatus(Find(task->first), spec.status);
  }

  [[nodiscard]] TaskId Find(const std::string& name) const {
    const std::vector<TaskId> all = state_->workload().AllTasks();
    return *std::find_if(all.begin(), all.end(), [&](TaskId id) {
      return state_->workload().task(id).name == name;
    });
  }

  Objects objects_;
  std::unique_ptr<ClusterState> state_;
  Cycles cycles_;
  std::map<std::string, NodeSpec> nodes_gone_;
  std::map<std::string, HyperNodeSpec> hypernodes_gone_;
  int added_ = 0;
};

TEST(EventStreamProperty, EqualsAStateBuiltAfresh) {
  CheckProperty(600, [] {
    Stream stream(*AnyWorld().as("world"));
    for (const Happening& event : *AnyStream().as("stream")) stream.Happen(event);
    stream.Cycle({});
  });
}

TEST(EventStreamProperty, EqualsAStateBuiltAfreshAlsoAfterAThousandEvents) {
  CheckProperty(20, [] {
    Stream stream(*AnyWorld().as("world"));
    const auto events =
        *rc::gen::container<std::vector<Happening>>(1000, AnyHappening()).as("stream");
    for (const Happening& event : events) stream.Happen(event);
    stream.Cycle({});
  });
}

}  // namespace
}  // namespace strata::testing
