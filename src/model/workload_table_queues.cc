// The queues of a WorkloadTable, and the node groups that they tie tasks to.
#include <algorithm>
#include <set>
#include <utility>

#include "model/slots.h"
#include "model/workload_table.h"

namespace strata {
namespace {

// What NodeGroupsOf looks at.
bool HaveSameGroups(const QueueSpec& a, const QueueSpec& b) {
  return a.node_groups == b.node_groups && a.parent == b.parent &&
         a.node_group_limits.empty() == b.node_group_limits.empty();
}

}  // namespace

QueueId WorkloadTable::UpsertQueue(QueueSpec spec) {
  ++queues_version_;
  const auto known = FindQueue(spec.name);
  const bool groups_stay = known && HaveSameGroups(queues_[known->index()].spec, spec);
  has_node_groups_ = has_node_groups_ || !spec.node_groups.empty();
  const QueueId id = PutQueue(std::move(spec));
  if (has_node_groups_ && !groups_stay) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) BindToNodeGroups(IdAt<TaskId>(i));
  }
  return id;
}

QueueId WorkloadTable::PutQueue(QueueSpec spec) {
  if (const auto known = FindQueue(spec.name)) {
    queues_[known->index()].spec = std::move(spec);
    return *known;
  }
  const auto id = TakeSlot<QueueId>(free_queues_, queues_.size());
  if (id.index() == queues_.size()) queues_.emplace_back();
  queue_ids_.emplace(spec.name, id);
  queues_[id.index()] =
      Queue{.spec = std::move(spec), .allocated = {}, .pending = {}, .alive = true};
  const auto before = [&](QueueId a, QueueId b) {
    return queues_[a.index()].spec.name < queues_[b.index()].spec.name;
  };
  live_queues_.insert(std::lower_bound(live_queues_.begin(), live_queues_.end(), id, before), id);
  CountJobs(id);
  return id;
}

// The jobs that name the queue are in it now.
void WorkloadTable::CountJobs(QueueId id) {
  Queue& queue = queues_[id.index()];
  for (const JobId job_id : jobs()) {
    Job& job = jobs_[job_id.index()];
    if (job.spec.queue != queue.spec.name) continue;
    SetQueueOf(job, id);
    for (const SubJob& sub : job.sub_jobs) {
      for (const TaskId task_id : sub.tasks) {
        const Task& task = tasks_[task_id.index()];
        const Resources& counted = CountedOf(task_id);
        if (CountsAsAllocated(task.status)) queue.allocated.Add(counted);
        if (task.status == TaskStatus::kPending && !task.exceeds_nodes) {
          queue.pending.AddSigned(counted, +1);
        }
      }
    }
    Touch(job_id);
  }
}

void WorkloadTable::RemoveQueue(QueueId id) {
  ++queues_version_;
  for (const JobId job_id : jobs()) {
    Job& job = jobs_[job_id.index()];
    if (job.queue != id) continue;
    SetQueueOf(job, QueueId{});
    Touch(job_id);
  }
  live_queues_.erase(std::find(live_queues_.begin(), live_queues_.end(), id));
  queue_ids_.erase(queue_ids_.find(queues_[id.index()].spec.name));
  queues_[id.index()] = Queue{};
  free_queues_.push_back(id.value);
  if (has_node_groups_) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) BindToNodeGroups(IdAt<TaskId>(i));
  }
}

// Tasks are counted in the old queue: taken out of it, and put back under the new one.
void WorkloadTable::FollowQueueName(Job& job) {
  std::vector<TaskId> tasks;
  for (const SubJob& sub : job.sub_jobs) {
    tasks.insert(tasks.end(), sub.tasks.begin(), sub.tasks.end());
  }
  for (const TaskId task : tasks) Account(task, -1);
  SetQueueOf(job, FindQueue(job.spec.queue).value_or(QueueId{}));
  for (const TaskId task : tasks) Account(task, +1);
  if (has_node_groups_) {
    for (const TaskId task : tasks) BindToNodeGroups(task);
  }
}

std::optional<QueueId> WorkloadTable::FindQueue(std::string_view name) const {
  const auto it = queue_ids_.find(name);
  return it == queue_ids_.end() ? std::nullopt : std::optional(it->second);
}

void WorkloadTable::SetQueueOf(Job& job, QueueId queue) {
  if (job.queue.valid()) --queues_[job.queue.index()].jobs;
  job.queue = queue;
  if (job.queue.valid()) ++queues_[job.queue.index()].jobs;
}

NodeGroupRules WorkloadTable::NodeGroupsOf(const Job& job) const {
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

void WorkloadTable::BindToNodeGroups(TaskId id) {
  Task& task = tasks_[id.index()];
  if (!task.alive || !task.job.valid()) return;
  NodeGroupRules rules = NodeGroupsOf(jobs_[task.job.index()]);
  const ClassId before = task.class_id;
  if (classes_.spec(before).node_groups == rules) return;
  ClassSpec after = classes_.spec(before);
  after.node_groups = std::move(rules);
  const bool takes_shares = classes_.TakesShares(before);
  if (takes_shares) Account(id, -1);
  task.class_id = JoinClass(std::move(after));
  if (takes_shares) {  // a new class may know of other GPUs than the old one
    CountAgain(id);
    Account(id, +1);
  }
  classes_.Leave(before);
  if (task.node.valid()) nodes_.Touch(task.node);
}

}  // namespace strata
