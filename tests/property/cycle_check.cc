#include "tests/property/cycle_check.h"

#include <algorithm>
#include <optional>

#include "model/constraints.h"
#include "sched/plugins/queue_shares.h"
#include "tests/property/peer_check.h"
#include "tests/support/recount.h"

namespace strata::testing {
namespace {

// What a hard limit binds: a job, or one of its sub-jobs.
struct Bound {
  std::string name;
  std::vector<TaskId> tasks;
  TopologySpec topology;
};

std::vector<Bound> BoundsOf(const Job& job) {
  std::vector<Bound> bounds;
  Bound whole{.name = job.spec.name, .tasks = {}, .topology = job.spec.topology};
  for (const SubJob& sub_job : job.sub_jobs) {
    whole.tasks.insert(whole.tasks.end(), sub_job.tasks.begin(), sub_job.tasks.end());
    if (sub_job.key) {
      bounds.push_back({.name = job.spec.name + "/" + sub_job.name,
                        .tasks = sub_job.tasks,
                        .topology = sub_job.topology});
    }
  }
  bounds.push_back(std::move(whole));
  return bounds;
}

std::set<NodeId> NodesOf(const ClusterState& state, const std::vector<TaskId>& tasks) {
  std::set<NodeId> nodes;
  for (const TaskId id : tasks) {
    const Task& task = state.workload().task(id);
    if (IsAllocated(task.status) && task.node.valid()) nodes.insert(task.node);
  }
  return nodes;
}

// A HyperNode of at most this tier, or of any tier if there is no number, holds all the nodes.
bool FitsOneHyperNode(const ClusterState& state,
                      const std::set<NodeId>& nodes,
                      const std::optional<std::int32_t>& limit) {
  const HyperNodeTree& tree = state.tree();
  for (std::size_t i = 0; i < tree.hypernodes().size(); ++i) {
    const auto id = IdAt<HyperNodeId>(i);
    const HyperNodeTree::HyperNode& hypernode = tree.at(id);
    if (!hypernode.in_tree) continue;
    const bool low_enough = limit ? hypernode.tier <= *limit : id != tree.top();
    if (low_enough && std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) {
          return tree.Contains(id, node);
        })) {
      return true;
    }
  }
  return nodes.empty();
}

bool IsBestEffort(const ClusterState& state, TaskId id) {
  return state.classes().spec(state.workload().task(id).class_id).request.IsBestEffort();
}

}  // namespace

CycleCheck::CycleCheck(const ClusterState& state) : state_(state) {
  for (const TaskId id : state.workload().AllTasks()) {
    if (state.workload().task(id).status == TaskStatus::kPending) {
      pending_before_.insert(state.workload().task(id).name);
    }
  }
  for (const JobId id : state.workload().jobs()) {
    if (state.workload().job(id).counts.Allocated() > 0) started_before_.insert(id);
    for (const Bound& bound : BoundsOf(state.workload().job(id))) {
      nodes_before_[bound.name] = NodesOf(state, bound.tasks);
    }
  }
  for (const QueueShare& share : ComputeProportion(state)) {
    shares_[share.queue] = {.deserved = share.deserved, .limit = share.real_capability};
  }
}

std::vector<TaskId> CycleCheck::NewlyPlaced() const {
  std::vector<TaskId> placed;
  for (const TaskId id : state_.workload().AllTasks()) {
    const Task& task = state_.workload().task(id);
    if (task.node.valid() && pending_before_.contains(task.name)) placed.push_back(id);
  }
  return placed;
}

std::string CycleCheck::FaultsInside() {
  faults_ = RecountMistakes(state_);
  const std::vector<TaskId> placed = NewlyPlaced();
  for (const TaskId id : placed) CheckPlacement(id);
  CheckPeers(placed);
  for (const NodeId node : state_.nodes().all()) CheckPorts(node);
  for (const QueueId id : state_.workload().queues()) CheckQuota(id, placed);
  return std::move(faults_);
}

void CycleCheck::CheckPlacement(TaskId id) {
  const Task& task = state_.workload().task(id);
  const ClassSpec& spec = state_.classes().spec(task.class_id);
  const NodeSpec& node = state_.nodes().spec(task.node);
  const std::string where = task.name + " on " + node.name;
  for (std::size_t i = 0; i < spec.request.size(); ++i) {
    if (spec.request.amounts()[i] <= 0) continue;
    const std::string& resource = state_.resource_names().name(IdAt<ResourceId>(i));
    if (task.status != TaskStatus::kPipelined && state_.nodes().Idle(task.node)[i] < 0) {
      Fault(where + ": " + resource + " is over-committed");
    }
    if (state_.nodes().FutureIdle(task.node)[i] < 0) {
      Fault(where + ": " + resource + " is promised twice");
    }
  }
  if (!MatchesNode(spec.node_selector, spec.affinity, node.name, node.labels)) {
    Fault(where + ": the selector does not match");
  }
  if (FirstUntolerated(node.taints, spec.tolerations) != nullptr) {
    Fault(where + ": the taint is not tolerated");
  }
  if (node.unschedulable) Fault(where + ": the node is cordoned");
  if (task.gated) Fault(where + ": the pod is gated");
}

void CycleCheck::CheckPorts(NodeId node) {
  std::vector<HostPort> taken;
  for (const TaskId id : state_.nodes().TasksOn(node)) {
    const Task& task = state_.workload().task(id);
    if (task.status == TaskStatus::kPipelined) continue;
    for (const HostPort& port : state_.classes().spec(task.class_id).host_ports) {
      for (const HostPort& other : taken) {
        if (port.ConflictsWith(other)) Fault(task.name + ": its host port is taken");
      }
      taken.push_back(port);
    }
  }
}

void CycleCheck::CheckPeers(const std::vector<TaskId>& placed) {
  const PeerCheck check(state_, placed);
  for (const TaskId id : placed) {
    for (const std::string& fault : check.FaultsOf(id)) {
      Fault(state_.workload().task(id).name + ": " + fault);
    }
  }
}

void CycleCheck::CheckQuota(QueueId id, const std::vector<TaskId>& placed) {
  const Queue& queue = state_.workload().queue(id);
  for (const TaskId task_id : placed) {
    const Task& task = state_.workload().task(task_id);
    if (state_.workload().job(task.job).queue != id || IsBestEffort(state_, task_id)) continue;
    if (!queue.spec.open) Fault(task.name + ": its queue is closed");
    const Resources& request = state_.classes().spec(task.class_id).request;
    const Share& share = shares_.at(id);
    const std::vector<double>& most =
        started_before_.contains(task.job) ? share.limit : share.deserved;
    for (std::size_t i = 0; i < request.size(); ++i) {
      const auto resource = IdAt<ResourceId>(i);
      if (resource == kPods || request.Get(resource) <= 0) continue;
      const auto has = static_cast<double>(queue.allocated.Get(resource));
      if (has > most[i] + 1) {
        Fault(task.name + ": queue " + queue.spec.name + " has more " +
              state_.resource_names().name(resource) + " than its share");
      }
    }
  }
}

std::string CycleCheck::FaultsAfter(const Decisions& decisions) {
  faults_ = RecountMistakes(state_);
  for (const JobId id : state_.workload().jobs()) {
    CheckGang(id, decisions);
    CheckHard(id, decisions);
    CheckVerdict(id, decisions);
  }
  if (!state_.journal().HeldTasks().empty()) Fault("something is still held");
  if (state_.journal().Mark() != 0) Fault("something is still undecided");
  for (const TaskId id : state_.workload().AllTasks()) {
    const Task& task = state_.workload().task(id);
    if (task.status == TaskStatus::kAllocated || task.status == TaskStatus::kPipelined) {
      Fault(task.name + " is still in between");
    }
    const bool bound = decisions.binds.contains(task.name);
    const bool was_pending = pending_before_.contains(task.name);
    if (bound && (!was_pending || task.status != TaskStatus::kBinding ||
                  state_.nodes().spec(task.node).name != decisions.binds.at(task.name))) {
      Fault(task.name + ": its bind is not in the state");
    }
    if (!bound && was_pending && task.status != TaskStatus::kPending) {
      Fault(task.name + ": it left pending without a bind");
    }
    if (bound && decisions.pipelined.contains(task.name)) {
      Fault(task.name + ": bound and waiting at once");
    }
  }
  return std::move(faults_);
}

bool CycleCheck::BoundAny(const Job& job, const Decisions& decisions) const {
  return std::any_of(job.sub_jobs.begin(), job.sub_jobs.end(), [&](const SubJob& sub_job) {
    return std::any_of(sub_job.tasks.begin(), sub_job.tasks.end(), [&](TaskId id) {
      return decisions.binds.contains(state_.workload().task(id).name);
    });
  });
}

void CycleCheck::CheckGang(JobId id, const Decisions& decisions) {
  const Job& job = state_.workload().job(id);
  if (!BoundAny(job, decisions)) return;
  const std::string& name = job.spec.name;
  if (job.counts.Ready() < job.spec.min_available) Fault(name + ": only a part of it started");
  std::int64_t minimums = 0;
  for (const Role& role : job.roles) minimums += role.min_member;
  for (const Role& role : job.roles) {
    if (minimums <= job.spec.min_available && role.counts.Ready() < role.min_member) {
      Fault(name + ": started without enough of role " + role.name);
    }
  }
  std::int32_t whole = 0;
  for (const SubJob& sub_job : job.sub_jobs) {
    const bool enough = sub_job.counts.Ready() >= sub_job.min_available;
    if (sub_job.key && enough) ++whole;
    const bool bound = std::any_of(sub_job.tasks.begin(), sub_job.tasks.end(), [&](TaskId task) {
      return decisions.binds.contains(state_.workload().task(task).name);
    });
    if (sub_job.key && bound && !enough) {
      Fault(name + ": only a part of sub-group " + sub_job.name + " started");
    }
  }
  for (const SubGroupPolicy& policy : job.spec.sub_groups) {
    if (whole < policy.min_sub_groups) Fault(name + ": started without enough sub-groups");
  }
}

void CycleCheck::CheckHard(JobId id, const Decisions& decisions) {
  const Job& job = state_.workload().job(id);
  if (!state_.tree().has_hypernodes()) return;
  std::vector<TaskId> all;
  for (const SubJob& sub_job : job.sub_jobs) {
    all.insert(all.end(), sub_job.tasks.begin(), sub_job.tasks.end());
  }
  if (std::all_of(
          all.begin(), all.end(), [&](TaskId task) { return IsBestEffort(state_, task); })) {
    return;  // topology does not bind a job of BestEffort pods alone
  }
  for (const Bound& bound : BoundsOf(job)) {
    if (bound.topology.mode != TopologySpec::Mode::kHard) continue;
    std::optional<std::int32_t> limit = bound.topology.highest_tier;
    const std::string& tier_name = bound.topology.highest_tier_name;
    if (!tier_name.empty()) {
      limit = state_.tree().TierOfName(tier_name);
      if (!limit && BoundAny(job, decisions)) {
        Fault(bound.name + ": bound by a name that no HyperNode has");
      }
      if (!limit) continue;
    }
    const bool fitted = FitsOneHyperNode(state_, nodes_before_[bound.name], limit);
    const bool fits = FitsOneHyperNode(state_, NodesOf(state_, bound.tasks), limit);
    if (fitted && !fits) Fault(bound.name + ": its hard limit is broken");
  }
}

void CycleCheck::CheckVerdict(JobId id, const Decisions& decisions) {
  const Job& job = state_.workload().job(id);
  const std::string& name = job.spec.name;
  const bool waits = job.counts.Of(TaskStatus::kPending) > 0;
  const bool told = !decisions.Reason(name).empty() && !decisions.Message(name).empty();
  if (waits && !told) {
    const bool holds =
        std::any_of(decisions.pipelined.begin(), decisions.pipelined.end(), [&](const auto& entry) {
          return entry.first.starts_with(name + "-") || entry.first.starts_with(name + "x");
        });
    if (!holds) Fault(name + ": pods are pending and nobody knows why");
  }
  // A PodGroup without pods may still wait to be let into its queue.
  if (!waits && job.counts.Total() > 0 && decisions.verdicts.contains(name)) {
    Fault(name + ": a verdict, but nothing waits");
  }
}

}  // namespace strata::testing
