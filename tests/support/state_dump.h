#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "model/cluster_state.h"

// Everything a ClusterState says, as text: by name and in order of names, so that two states with
// the same content have the same text whatever their ids. Version numbers are left out, since they
// only ever move on.
namespace strata::testing {

class StateDump {
 public:
  explicit StateDump(const ClusterState& state) : state_(state) {}

  [[nodiscard]] std::string Text() {
    for (const auto& [name, id] : NodesByName()) Node(id);
    for (std::size_t i = 0; i < state_.tree().hypernodes().size(); ++i) {
      HyperNode(IdAt<HyperNodeId>(i));
    }
    for (const QueueId id : state_.workload().queues()) Queue(state_.workload().queue(id));
    for (const JobId id : state_.workload().jobs()) Job(state_.workload().job(id));
    for (const auto& [name, id] : TasksByName()) Task(id);
    Names("waiting", state_.workload().WaitingJobs(), [&](JobId id) {
      return state_.workload().job(id).spec.name;
    });
    out_ << "releasing " << state_.nodes().HasReleasing() << " preferences "
         << state_.nodes().with_preferences() << '\n';
    return out_.str();
  }

 private:
  [[nodiscard]] std::map<std::string, NodeId> NodesByName() const {
    std::map<std::string, NodeId> nodes;
    for (const NodeId id : state_.nodes().all()) nodes.emplace(state_.nodes().spec(id).name, id);
    return nodes;
  }
  [[nodiscard]] std::map<std::string, TaskId> TasksByName() const {
    std::map<std::string, TaskId> tasks;
    for (const TaskId id : state_.workload().AllTasks()) {
      tasks.emplace(state_.workload().task(id).name, id);
    }
    return tasks;
  }

  // What is not 0, by name of the resource.
  void Amounts(const char* what, std::span<const Amount> row) {
    std::map<std::string, Amount> amounts;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i] != 0) amounts[state_.resource_names().name(IdAt<ResourceId>(i))] = row[i];
    }
    out_ << "  " << what;
    for (const auto& [name, amount] : amounts) out_ << ' ' << name << '=' << amount;
    out_ << '\n';
  }
  void Counts(const TaskCounts& counts) {
    for (const std::int32_t count : counts.by_status) out_ << ' ' << count;
    out_ << " be " << counts.pending_best_effort;
  }

  // In order of names.
  template <typename Ids, typename NameOf>
  void Names(const char* what, const Ids& ids, const NameOf& name_of) {
    std::vector<std::string> names;
    for (const auto id : ids) names.push_back(name_of(id));
    std::sort(names.begin(), names.end());
    out_ << "  " << what;
    for (const std::string& name : names) out_ << ' ' << name;
    out_ << '\n';
  }

  void Node(NodeId id) {
    const NodeSpec& spec = state_.nodes().spec(id);
    out_ << "node " << spec.name << (spec.unschedulable ? " cordoned" : "")
         << (state_.nodes().IsOpen(id) ? " open" : "");
    for (const auto& [key, value] : spec.labels) out_ << ' ' << key << '=' << value;
    for (const Taint& taint : spec.taints) {
      out_ << " taint " << taint.key << '=' << taint.value << ':' << static_cast<int>(taint.effect);
    }
    out_ << '\n';
    Amounts("allocatable", state_.nodes().Allocatable(id));
    Amounts("used", state_.nodes().Used(id));
    Amounts("idle", state_.nodes().Idle(id));
    Amounts("future", state_.nodes().FutureIdle(id));
    Names("tasks", state_.nodes().TasksOn(id), [&](TaskId task) {
      return state_.workload().task(task).name;
    });
    std::vector<HostPort> ports(state_.nodes().PortsInUse(id).begin(),
                                state_.nodes().PortsInUse(id).end());
    std::sort(ports.begin(), ports.end());
    out_ << "  nonzero " << state_.nodes().NonzeroCpu(id) << ' ' << state_.nodes().NonzeroMemory(id)
         << " ports";
    for (const HostPort& port : ports) out_ << ' ' << port.ip << port.protocol << port.port;
    out_ << '\n';
  }
  void HyperNode(HyperNodeId id) {
    const HyperNodeTree& tree = state_.tree();
    const HyperNodeTree::HyperNode& hypernode = tree.at(id);
    out_ << "hypernode " << hypernode.name << " tier " << hypernode.tier << ' '
         << hypernode.tier_name << " in "
         << (hypernode.parent.valid() ? tree.at(hypernode.parent).name : "")
         << (hypernode.ready ? " ready " : " at fault ") << hypernode.reason << '\n';
    Names("children", hypernode.children, [&](HyperNodeId child) { return tree.at(child).name; });
    Names("nodes", tree.NodesOf(id), [&](NodeId node) { return state_.nodes().spec(node).name; });
    Amounts("allocatable", state_.sums().Allocatable(id));
    Amounts("used", state_.sums().Used(id));
    Amounts("idle", state_.sums().Idle(id));
    Amounts("future", state_.sums().FutureIdle(id));
  }
  void Queue(const strata::Queue& queue) {
    out_ << "queue " << queue.spec.name << " jobs " << queue.jobs << " weight " << queue.spec.weight
         << (queue.spec.open ? " open" : "") << '\n';
    Amounts("allocated", queue.allocated.amounts());
    Amounts("pending", queue.pending.Clamped().amounts());
  }
  void Job(const strata::Job& job) {
    out_ << "job " << job.spec.name << " phase " << ToString(job.phase) << " at "
         << job.allocated_hypernode << " counts";
    Counts(job.counts);
    out_ << '\n';
    Amounts("allocated", job.allocated.amounts());
    std::map<std::string, std::string> parts;
    for (const SubJob& sub_job : job.sub_jobs) {
      if (!sub_job.tasks.empty()) parts["sub-job " + sub_job.name] = Part(sub_job);
    }
    for (const Role& role : job.roles) {
      if (role.counts.Total() == 0) continue;  // left behind by tasks that are gone
      std::ostringstream text;
      std::swap(text, out_);
      out_ << " of " << role.min_member;
      Counts(role.counts);
      std::swap(text, out_);
      parts["role " + role.name] = text.str();
    }
    for (const auto& [name, part] : parts) out_ << "  " << name << part << '\n';
  }
  std::string Part(const SubJob& sub_job) {
    std::ostringstream text;
    std::swap(text, out_);
    out_ << " at " << sub_job.allocated_hypernode << " of " << sub_job.min_available << " counts";
    Counts(sub_job.counts);
    std::swap(text, out_);
    return text.str();
  }
  void Task(TaskId id) {
    const strata::Task& task = state_.workload().task(id);
    out_ << "task " << task.name << " status " << static_cast<int>(task.status) << " on "
         << (task.node.valid() ? state_.nodes().spec(task.node).name : "");
    for (const auto& shares : state_.workload().GpusOf(id).containers) {
      for (const GpuShare& share : shares) out_ << " gpu " << share.uuid;
    }
    const GpuTotals held = state_.workload().GpusIn(task.name.substr(0, task.name.find('/')));
    out_ << " of " << held.gpus << ' ' << held.memory_mib << ' ' << held.cores;
    out_ << '\n';
  }

  const ClusterState& state_;
  std::ostringstream out_;
};

[[nodiscard]] inline std::string DumpState(const ClusterState& state) {
  return StateDump(state).Text();
}

}  // namespace strata::testing
