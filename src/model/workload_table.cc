#include "model/workload_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "model/slots.h"

// The tasks of a WorkloadTable; its jobs and queues are in files of their own.
namespace strata {
namespace {

// The number after the last '-' of a name with at least three parts ("job-task-7"), else -1.
std::int64_t IndexInName(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  if (std::count(name.begin(), name.end(), '-') < 2) return -1;
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  return WholeNumber(name.substr(name.rfind('-') + 1), kMax).value_or(-1);
}

Resources NonzeroRequest(const ClassSpec& spec) {
  Resources request;
  request.Set(kCpu, spec.nonzero_cpu);
  request.Set(kMemory, spec.nonzero_memory);
  return request;
}

void Count(TaskCounts& counts, const Task& task, int sign) {
  counts.by_status[static_cast<std::size_t>(task.status)] += sign;
  if (task.status == TaskStatus::kPending && task.best_effort) counts.pending_best_effort += sign;
}

// What of `asked` counts when tasks hold `total` already. A task that is larger than its node may
// use half of kMaxHeld up; from there on it counts as large as its node, so that a few such tasks
// leave enough for all others.
Amount AcceptedOf(Amount asked, Amount total, Amount node_has) {
  const Amount left = std::max<Amount>(kMaxHeld - total, 0);
  if (asked <= node_has) return std::min(asked, left);
  return std::min(asked, std::max(left - kMaxHeld / 2, std::min(node_has, left)));
}

}  // namespace

void WorkloadTable::EnterTotals(ClassSpec& spec, std::span<const Amount> node) {
  const auto count = [&](ResourceId id, Amount asked, const Resources& total) {
    return AcceptedOf(asked, total.Get(id), id.index() < node.size() ? node[id.index()] : 0);
  };
  for (std::size_t i = 0; i < spec.request.size(); ++i) {
    const auto id = IdAt<ResourceId>(i);
    const Amount asked = spec.request.Get(id);
    const Amount counted = count(id, asked, held_);
    if (counted < asked) spec.request.Set(id, counted);
  }
  spec.nonzero_cpu = count(kCpu, spec.nonzero_cpu, held_nonzero_);
  spec.nonzero_memory = count(kMemory, spec.nonzero_memory, held_nonzero_);
  held_.Add(spec.request);
  held_nonzero_.Add(NonzeroRequest(spec));
}

TaskId WorkloadTable::AddTask(TaskSpec spec) {
  const TaskId id = TakeSlot<TaskId>(free_tasks_, tasks_.size());
  if (id.index() == tasks_.size()) tasks_.emplace_back();
  nodes_.GrowTables();
  sums_.GrowTables();
  const bool holds = HoldsNode(spec.status);
  const NodeId node =
      spec.node_name.empty() ? NodeId{} : nodes_.Find(spec.node_name).value_or(NodeId{});
  if (holds && !spec.node_name.empty() && !node.valid()) AwaitNode(id, spec.node_name);
  const bool best_effort = spec.constraints.request.IsBestEffort();
  if (holds) {
    EnterTotals(spec.constraints,
                node.valid() ? nodes_.spec(node).allocatable.amounts() : nodes_.Largest());
  }
  Task& task = tasks_[id.index()];
  task = Task{.name = std::move(spec.name),
              .uid = std::move(spec.uid),
              .job = spec.job,
              .class_id = {},
              .node = holds ? node : NodeId{},
              .priority = spec.priority,
              .status = spec.status,
              .best_effort = best_effort,
              .gated = spec.gated,
              .alive = true,
              .came_with_node = holds,
              .created = spec.created,
              .disruption = spec.disruption};
  task.index = IndexInName(task.name);
  if (has_node_groups_ && task.job.valid()) {
    spec.constraints.node_groups = NodeGroupsOf(jobs_[task.job.index()]);
  }
  task.class_id = JoinClass(std::move(spec.constraints));
  task.exceeds_nodes = ExceedsNodes(task);
  if (task.node.valid() && IsStillToStart(task.status)) task.placed = Task::kCameWithNode;
  if (task.job.valid()) {
    Job& job = jobs_[task.job.index()];
    JoinSubJob(id, SubJobOf(job, spec.sub_group));
    task.role = RoleOf(job, spec.role);
    task.missed_policy = spec.missed_policy;
  }
  if (holds) SetGpus(id, std::move(spec.gpus));
  CountAgain(id);
  Account(id, +1);
  if (task.job.valid()) Touch(task.job);
  return id;
}

void WorkloadTable::RemoveTask(TaskId id) {
  Task& task = tasks_[id.index()];
  Account(id, -1);
  SetGpus(id, {});
  if (task.came_with_node) {
    held_.Sub(classes_.spec(task.class_id).request);
    held_nonzero_.Sub(NonzeroRequest(classes_.spec(task.class_id)));
  }
  if (task.job.valid()) LeaveSubJob(id);
  if (!task.node.valid()) StopAwaiting(id);
  if (task.job.valid()) Touch(task.job);
  classes_.Leave(task.class_id);
  if (task.counts_apart) counted_apart_.erase(id);
  task = Task{};
  free_tasks_.push_back(id.value);
}

void WorkloadTable::SetTaskStatus(TaskId id, TaskStatus status) {
  const NodeId node = tasks_[id.index()].node;
  if (!node.valid() && !HoldsNode(status)) StopAwaiting(id);
  Move(id, status, node);
}

void WorkloadTable::FollowUpsert(const NodeTable::Upserted& upserted) {
  const NodeId node = upserted.id;
  if (upserted.new_gpus) FollowGpusOf(node);
  const auto awaited = tasks_awaiting_node_.find(nodes_.spec(node).name);
  if (awaited != tasks_awaiting_node_.end()) {
    for (const TaskId id : awaited->second) {
      Task& task = tasks_[id.index()];
      awaited_node_.erase(id);
      Move(id, task.status, node);
      task.placed = IsStillToStart(task.status) ? Task::kCameWithNode : 0;
    }
    tasks_awaiting_node_.erase(awaited);
  }
  if (!upserted.new_report) return;
  for (const TaskId id : nodes_.TasksOn(node)) {
    Task& task = tasks_[id.index()];
    if (!IsStillToStart(task.status)) task.placed = 0;
  }
}

void WorkloadTable::FollowRemoval(NodeId node) {
  const std::span<const TaskId> on_it = nodes_.TasksOn(node);
  const std::vector<TaskId> tasks(on_it.begin(), on_it.end());
  for (const TaskId id : tasks) {
    Move(id, tasks_[id.index()].status, NodeId{});
    AwaitNode(id, nodes_.spec(node).name);
  }
}

void WorkloadTable::AwaitNode(TaskId id, const std::string& node) {
  tasks_awaiting_node_[node].insert(id);
  awaited_node_.emplace(id, node);
}

void WorkloadTable::StopAwaiting(TaskId id) {
  const auto home = awaited_node_.find(id);
  if (home == awaited_node_.end()) return;
  const auto waiting = tasks_awaiting_node_.find(home->second);
  waiting->second.erase(id);
  if (waiting->second.empty()) tasks_awaiting_node_.erase(waiting);
  awaited_node_.erase(home);
}

void WorkloadTable::AccountOnJob(TaskId id, int sign) {
  const Task& task = tasks_[id.index()];
  Job& job = jobs_[task.job.index()];
  Count(job.counts, task, sign);
  Count(job.sub_jobs[task.sub_job].counts, task, sign);
  Count(job.roles[task.role].counts, task, sign);
  const Resources& counted = CountedOf(id);
  if (classes_.TakesShares(task.class_id)) job.sharers += sign;
  if (task.IsOversized()) job.oversized += sign;
  const bool holds = CountsAsAllocated(task.status);
  if (holds) job.allocated.AddSigned(counted, sign);
  if (!job.queue.valid()) return;
  Queue& queue = queues_[job.queue.index()];
  if (holds) queue.allocated.AddSigned(counted, sign);
  if (task.status == TaskStatus::kPending && !task.exceeds_nodes) {
    queue.pending.AddSigned(counted, sign);
  }
}

void WorkloadTable::FollowLargest() {
  if (std::exchange(largest_seen_, nodes_.largest_version()) == nodes_.largest_version()) return;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    Task& task = tasks_[i];
    if (!task.alive || ExceedsNodes(task) == task.exceeds_nodes) continue;
    const bool counted = task.job.valid() && task.status == TaskStatus::kPending;
    if (counted) AccountOnJob(IdAt<TaskId>(i), -1);
    task.exceeds_nodes = !task.exceeds_nodes;
    if (!counted) continue;
    AccountOnJob(IdAt<TaskId>(i), +1);
    Touch(task.job);
  }
}

bool WorkloadTable::ExceedsNodes(const Task& task) const {
  return !classes_.spec(task.class_id).request.FitsIn(nodes_.Largest());
}

void WorkloadTable::Account(TaskId id, int sign) {
  const Task& task = tasks_[id.index()];
  if (task.node.valid()) {
    const ClassSpec& spec = classes_.spec(task.class_id);
    const Resources& counted = CountedOf(id);
    nodes_.Account(id, task, spec, counted, sign);
    sums_.Account(task, spec, counted, sign);
  }
  if (task.job.valid()) AccountOnJob(id, sign);
  if (task.disruption.budgets != 0) AccountOnBudgets(task, sign);
}

void WorkloadTable::AccountOnBudgets(const Task& task, int sign) {
  const std::uint32_t group = task.disruption.budgets;
  if (group >= budget_counts_.size()) budget_counts_.resize(group + 1);
  BudgetCounts& counts = budget_counts_[group];
  if (task.status != TaskStatus::kSucceeded && task.status != TaskStatus::kFailed) {
    counts.expected += sign;
  }
  if (task.status == TaskStatus::kRunning) counts.healthy += sign;
  if (task.status == TaskStatus::kReleasing) counts.releasing += sign;
}

void WorkloadTable::Move(TaskId id, TaskStatus status, NodeId node) {
  Task& task = tasks_[id.index()];
  if (node == task.node && IsAllocated(status) && IsAllocated(task.status) && task.job.valid()) {
    Job& job = jobs_[task.job.index()];  // only the counts tell these statuses apart
    TaskCounts* const counts[] = {
        &job.counts, &job.sub_jobs[task.sub_job].counts, &job.roles[task.role].counts};
    for (TaskCounts* count : counts) Count(*count, task, -1);
    if (task.disruption.budgets != 0) AccountOnBudgets(task, -1);
    task.status = status;
    for (TaskCounts* count : counts) Count(*count, task, +1);
    if (task.disruption.budgets != 0) AccountOnBudgets(task, +1);
    Touch(task.job);
    return;
  }
  Account(id, -1);
  const NodeId before = task.node;
  task.status = status;
  task.node = HoldsNode(status) ? node : NodeId{};
  if (task.node != before) task.placed = task.node.valid() ? ++placements_ : 0;
  if (!HoldsNode(status)) SetGpus(id, {});
  CountAgain(id);
  Account(id, +1);
  if (task.job.valid()) Touch(task.job);
}

void WorkloadTable::SetDisruption(TaskId id, const Disruption& disruption) {
  Task& task = tasks_[id.index()];
  if (task.disruption == disruption) return;
  if (task.disruption.budgets != 0) AccountOnBudgets(task, -1);
  task.disruption = disruption;
  if (task.disruption.budgets != 0) AccountOnBudgets(task, +1);
  if (task.job.valid()) Touch(task.job);
}

std::vector<TaskId> WorkloadTable::AllTasks() const {
  std::vector<TaskId> all;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].alive) all.push_back(IdAt<TaskId>(i));
  }
  return all;
}

void WorkloadTable::ForgetIdleClasses(std::size_t max) {
  if (classes_.idle_count() <= max) return;
  const std::vector<ClassId> now = classes_.DropIdle();
  for (Task& task : tasks_) {
    if (!task.alive) continue;
    task.class_id = now[task.class_id.index()];
    CHECK(task.class_id.valid());
  }
}

}  // namespace strata
