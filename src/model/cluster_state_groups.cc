// The part of ClusterState that ties tasks to the node groups of their queues.
#include <set>
#include <utility>

#include "model/cluster_state.h"

namespace strata {

NodeGroupRules ClusterState::NodeGroupsOf(const Job& job) const {
  NodeGroupRules rules;
  if (!job.queue.valid()) return rules;
  const QueueSpec& own = queues_[job.queue.index()].spec;
  rules.own = own.node_groups;
  std::set<std::string_view> seen{own.name};  // queues may be on a cycle
  std::string_view parent = own.parent;
  while (rules.own.empty() && rules.inherited.empty() && seen.insert(parent).second) {
    const auto above = FindQueue(parent);
    if (!above) break;
    rules.inherited = queues_[above->index()].spec.node_groups;
    parent = queues_[above->index()].spec.parent;
  }
  if (rules.own.empty() && rules.inherited.empty()) return rules;
  rules.queue = own.name;
  rules.limited = !own.node_group_limits.empty();
  return rules;
}

void ClusterState::BindToNodeGroups(TaskId id) {
  Task& task = tasks_[id.index()];
  if (!task.alive || !task.job.valid()) return;
  NodeGroupRules rules = NodeGroupsOf(jobs_[task.job.index()]);
  const ClassId before = task.class_id;
  if (task_class(before).node_groups == rules) return;
  ClassSpec after = task_class(before);
  after.node_groups = std::move(rules);
  task.class_id = JoinClass(std::move(after));
  LeaveClass(before);
  if (task.node.valid()) Touch(task.node);
}

}  // namespace strata
