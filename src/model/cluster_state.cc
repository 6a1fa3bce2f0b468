#include "model/cluster_state.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.h"

namespace strata {
namespace {

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The number after the last '-' of a name with at least three parts ("job-task-7"), else -1.
std::int64_t IndexInName(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  if (std::count(name.begin(), name.end(), '-') < 2) return -1;
  return ParseNumber(name.substr(name.rfind('-') + 1)).value_or(-1);
}

bool HasPreference(const NodeSpec& spec) {
  return std::any_of(spec.taints.begin(), spec.taints.end(), [](const Taint& taint) {
    return taint.effect == TaintEffect::kPreferNoSchedule;
  });
}

// True for statuses in which a task takes room on its node.
bool HoldsNode(TaskStatus status) {
  return status != TaskStatus::kPending && status != TaskStatus::kSucceeded &&
         status != TaskStatus::kFailed;
}

template <typename IdType>
IdType TakeSlot(std::vector<std::uint32_t>& free, std::size_t size) {
  if (free.empty()) return IdAt<IdType>(size);
  const IdType id{free.back()};
  free.pop_back();
  return id;
}

template <typename IdType, typename Key>
void InsertSorted(std::vector<IdType>& ids, IdType id, const Key& key_of) {
  const auto before = [&](IdType a, IdType b) { return key_of(a) < key_of(b); };
  ids.insert(std::lower_bound(ids.begin(), ids.end(), id, before), id);
}

void AddTo(Resources& sum, const Resources& part, int sign) {
  sign > 0 ? sum.Add(part) : sum.Sub(part);
}

void AddTo(ResourceTable& table, std::size_t row, const Resources& part, int sign) {
  sign > 0 ? table.Add(row, part) : table.Sub(row, part);
}

template <typename T, typename Range>
void AddTo(std::vector<T>& bag, const Range& items, int sign) {
  if (sign > 0) {
    bag.insert(bag.end(), items.begin(), items.end());
  } else {
    for (const T& item : items) bag.erase(std::find(bag.begin(), bag.end(), item));
  }
}

// The kubelet has not begun with the task, so no report of its node counts it.
bool IsStillToStart(TaskStatus status) {
  return status == TaskStatus::kPipelined || status == TaskStatus::kAllocated ||
         status == TaskStatus::kBinding || status == TaskStatus::kBound;
}

Resources NonzeroRequest(const ClassSpec& spec) {
  Resources request;
  request.Set(kCpu, spec.nonzero_cpu);
  request.Set(kMemory, spec.nonzero_memory);
  return request;
}

// Fills in what the policy of a sub-group says of it, if there still is one.
void ReadPolicy(const JobSpec& job, SubJob& sub_job) {
  if (sub_job.key->policy >= job.sub_groups.size()) return;
  const SubGroupPolicy& policy = job.sub_groups[sub_job.key->policy];
  sub_job.name = policy.name;
  for (const std::string& value : sub_job.key->values) sub_job.name += "-" + value;
  sub_job.min_available = policy.size;
  sub_job.topology = policy.topology;
}

// What NodeGroupsOf looks at.
bool HaveSameGroups(const QueueSpec& a, const QueueSpec& b) {
  return a.node_groups == b.node_groups && a.parent == b.parent &&
         a.node_group_limits.empty() == b.node_group_limits.empty();
}

void Count(TaskCounts& counts, const Task& task, int sign) {
  counts.by_status[static_cast<std::size_t>(task.status)] += sign;
  if (task.status == TaskStatus::kPending && task.best_effort) counts.pending_best_effort += sign;
}

}  // namespace

// ---- nodes and HyperNodes
// -------------------------------------------------------------------------------------------

void ClusterState::GrowTables() {
  const std::size_t rows = nodes_.size();
  const std::size_t stride = resource_names_.size();
  if (rows <= allocatable_.rows() && stride <= allocatable_.stride()) return;
  for (ResourceTable* table : {&allocatable_, &used_, &idle_, &future_idle_}) {
    table->Reserve(rows, stride);
  }
  // Nobody has anything of a resource that is new: the sums stay true.
  for (ResourceTable* table : {&sums_.allocatable, &sums_.used, &sums_.idle, &sums_.future_idle}) {
    table->Reserve(table->rows(), stride);
  }
}

Result<Resources> ClusterState::Replace(const Resources& total,
                                        const Resources& out,
                                        const Resources& in) const {
  Resources next = total;
  next.Sub(out);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto id = IdAt<ResourceId>(i);
    Amount sum = 0;
    if (__builtin_add_overflow(next.Get(id), in.Get(id), &sum)) {
      return Fail(Code::kInvalidArgument,
                  "the total of " + resource_names_.name(id) + " in the cluster overflows 64 bits");
    }
  }
  next.Add(in);
  return next;
}

Result<NodeId> ClusterState::UpsertNode(NodeSpec spec) {
  const auto known = FindNode(spec.name);
  const Resources before = known ? nodes_[known->index()].allocatable : Resources{};
  const bool reported = !known || nodes_[known->index()].numa != spec.numa;
  TRY_ASSIGN(total_allocatable_, Replace(total_allocatable_, before, spec.allocatable));
  NodeId id;
  if (known) {
    id = *known;
    nodes_with_preferences_ -= HasPreference(nodes_[id.index()]) ? 1 : 0;
  } else {
    id = TakeSlot<NodeId>(free_nodes_, nodes_.size());
    if (id.index() == nodes_.size()) {
      nodes_.emplace_back();
      open_.emplace_back();
      nonzero_.emplace_back();
      ports_.emplace_back();
      tasks_on_.emplace_back();
      versions_.emplace_back();
      spec_versions_.emplace_back();
    }
    live_nodes_.insert(std::lower_bound(live_nodes_.begin(), live_nodes_.end(), id), id);
    node_ids_.emplace(spec.name, id);
  }
  GrowTables();
  allocatable_.Sub(id.index(), before);
  allocatable_.Add(id.index(), spec.allocatable);
  for (ResourceTable* table : {&idle_, &future_idle_}) {
    table->Sub(id.index(), before);
    table->Add(id.index(), spec.allocatable);
  }
  nodes_with_preferences_ += HasPreference(spec) ? 1 : 0;
  const bool moved = tree_.UpsertNode(id, spec.name, spec.labels);
  if (moved || !known) {
    sums_.stale = true;
  } else {
    ReplaceInSums(id, before, spec.allocatable);
  }
  BeginNodeEpoch();
  spec_versions_[id.index()] = Touch(id);
  open_[id.index()] = spec.taints.empty() && !spec.unschedulable;
  nodes_[id.index()] = std::move(spec);
  if (const auto it = homeless_.find(nodes_[id.index()].name); it != homeless_.end()) {
    for (const TaskId task : it->second) {
      homes_.erase(task);
      Move(task, tasks_[task.index()].status, id);
      const bool waits = IsStillToStart(tasks_[task.index()].status);
      tasks_[task.index()].placed = waits ? Task::kCameWithNode : 0;
    }
    homeless_.erase(it);
  }
  for (const TaskId on_it : tasks_on_[id.index()]) {
    Task& task = tasks_[on_it.index()];
    if (reported && !IsStillToStart(task.status)) task.placed = 0;
  }
  return id;
}

void ClusterState::RemoveNode(NodeId id) {
  NodeSpec& spec = nodes_[id.index()];
  const std::vector<TaskId> tasks = tasks_on_[id.index()];
  for (const TaskId task : tasks) {
    Move(task, tasks_[task.index()].status, NodeId{});
    AwaitHome(task, spec.name);
  }
  nodes_with_preferences_ -= HasPreference(spec) ? 1 : 0;
  total_allocatable_.Sub(spec.allocatable);
  for (ResourceTable* table : {&allocatable_, &used_, &idle_, &future_idle_}) {
    table->ClearRow(id.index());
  }
  tree_.RemoveNode(id);
  sums_.stale = true;
  BeginNodeEpoch();
  node_ids_.erase(node_ids_.find(spec.name));
  live_nodes_.erase(std::lower_bound(live_nodes_.begin(), live_nodes_.end(), id));
  free_nodes_.push_back(id.value);
  spec = {};
}

void ClusterState::UpsertHyperNode(HyperNodeSpec spec) {
  tree_.UpsertHyperNode(std::move(spec));
  sums_.stale = true;
}

void ClusterState::RemoveHyperNode(std::string_view name) {
  tree_.RemoveHyperNode(name);
  sums_.stale = true;
}

void ClusterState::RebuildSums() const {
  // The node tables do not say which part of "future idle" is pipelined, so a rebuild belongs
  // between cycles.
  CHECK(pipelined_tasks_ == 0);
  const std::size_t rows = tree_.hypernodes().size();
  const std::size_t stride = resource_names_.size();
  for (ResourceTable* table : {&sums_.allocatable, &sums_.used, &sums_.idle, &sums_.future_idle}) {
    table->Clear(rows, stride);
  }
  sums_.versions.assign(rows, ++sums_.last_version);
  for (const NodeId node : live_nodes_) {
    for (const HyperNodeId hypernode : tree_.HyperNodesOf(tree_.ChainOf(node))) {
      sums_.allocatable.AddRow(hypernode.index(), allocatable_[node.index()]);
      sums_.used.AddRow(hypernode.index(), used_[node.index()]);
      sums_.idle.AddRow(hypernode.index(), idle_[node.index()]);
      sums_.future_idle.AddRow(hypernode.index(), future_idle_[node.index()]);
    }
  }
  sums_.stale = false;
}

void ClusterState::ReplaceInSums(NodeId node, const Resources& out, const Resources& in) {
  if (sums_.stale) return;
  ++sums_.last_version;
  for (const HyperNodeId hypernode : tree_.HyperNodesOf(tree_.ChainOf(node))) {
    sums_.versions[hypernode.index()] = sums_.last_version;
    for (ResourceTable* table : {&sums_.allocatable, &sums_.idle, &sums_.future_idle}) {
      table->Sub(hypernode.index(), out);
      table->Add(hypernode.index(), in);
    }
  }
}

std::optional<NodeId> ClusterState::FindNode(std::string_view name) const {
  const auto it = node_ids_.find(name);
  return it == node_ids_.end() ? std::nullopt : std::optional(it->second);
}

// ---- queues and jobs
// ------------------------------------------------------------------------------------------------

QueueId ClusterState::UpsertQueue(QueueSpec spec) {
  const auto known = FindQueue(spec.name);
  const bool groups_stay = known && HaveSameGroups(queues_[known->index()].spec, spec);
  has_node_groups_ = has_node_groups_ || !spec.node_groups.empty();
  const QueueId id = PutQueue(std::move(spec));
  if (has_node_groups_ && !groups_stay) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) BindToNodeGroups(IdAt<TaskId>(i));
  }
  return id;
}

QueueId ClusterState::PutQueue(QueueSpec spec) {
  if (const auto known = FindQueue(spec.name)) {
    queues_[known->index()].spec = std::move(spec);
    return *known;
  }
  const auto id = TakeSlot<QueueId>(free_queues_, queues_.size());
  if (id.index() == queues_.size()) queues_.emplace_back();
  queue_ids_.emplace(spec.name, id);
  queues_[id.index()] =
      Queue{.spec = std::move(spec), .allocated = {}, .pending = {}, .alive = true};
  InsertSorted(live_queues_, id, [&](QueueId q) -> const std::string& {
    return queues_[q.index()].spec.name;
  });
  const std::string& name = queues_[id.index()].spec.name;
  for (const JobId job_id : jobs()) {
    Job& job = jobs_[job_id.index()];
    if (job.spec.queue != name) continue;
    SetQueueOf(job, id);
    for (const SubJob& sub : job.sub_jobs) {
      for (const TaskId task : sub.tasks) {
        const Task& t = tasks_[task.index()];
        const Resources& request = task_class(t.class_id).request;
        if (IsAllocated(t.status) || t.status == TaskStatus::kPipelined) {
          queues_[id.index()].allocated.Add(request);
        }
        if (t.status == TaskStatus::kPending) queues_[id.index()].pending.Add(request);
      }
    }
    Touch(job_id);
  }
  return id;
}

void ClusterState::RemoveQueue(QueueId id) {
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
void ClusterState::FollowQueueName(Job& job) {
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

JobId ClusterState::UpsertJob(JobSpec spec) {
  const auto known = FindJob(spec.name);
  const JobId id = known ? *known : TakeSlot<JobId>(free_jobs_, jobs_.size());
  if (id.index() == jobs_.size()) jobs_.emplace_back();
  Job& job = jobs_[id.index()];
  if (!known) {
    job = Job{};
    job.alive = true;
    job_ids_.emplace(spec.name, id);
    live_jobs_.clear();
    job.sub_jobs.emplace_back();
  }
  const std::string old_queue = job.spec.queue;
  job.phase = spec.phase;
  job.spec = std::move(spec);
  if (!known || old_queue != job.spec.queue) FollowQueueName(job);
  SubJob& fallback = job.sub_jobs[0];
  fallback.min_available = job.spec.sub_groups.empty() ? job.spec.min_available : 1;
  fallback.topology = job.spec.topology;
  for (std::uint32_t i = 1; i < job.sub_jobs.size(); ++i) {
    SubJob& sub_job = job.sub_jobs[i];
    if (!sub_job.key) continue;
    ReadPolicy(job.spec, sub_job);
    if (sub_job.key->policy < job.spec.sub_groups.size()) continue;
    for (const TaskId task : sub_job.tasks) {  // its policy is gone, so they are of no sub-group
      Account(task, -1);
      JoinSubJob(task, 0);
      Account(task, +1);
    }
    FreeSubJob(job, i);
  }
  for (Role& role : job.roles) role.min_member = 0;
  for (const auto& [role, min_member] : job.spec.min_task_member) {
    job.roles[RoleOf(job, role)].min_member = min_member;
  }
  Touch(id);
  return id;
}

void ClusterState::RemoveJob(JobId id) {
  Job& job = jobs_[id.index()];
  for (std::size_t i = 0; i < job.sub_jobs.size(); ++i) {
    const std::vector<TaskId> tasks = job.sub_jobs[i].tasks;
    for (const TaskId task : tasks) RemoveTask(task);
  }
  SetQueueOf(job, QueueId{});
  live_jobs_.clear();
  job_ids_.erase(job_ids_.find(job.spec.name));
  free_jobs_.push_back(id.value);
  job = Job{};
  Touch(id);
}

std::optional<JobId> ClusterState::FindJob(std::string_view name) const {
  const auto it = job_ids_.find(name);
  return it == job_ids_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<QueueId> ClusterState::FindQueue(std::string_view name) const {
  const auto it = queue_ids_.find(name);
  return it == queue_ids_.end() ? std::nullopt : std::optional(it->second);
}

// ---- tasks
// ----------------------------------------------------------------------------------------------------------

std::uint32_t ClusterState::RoleOf(Job& job, const std::string& name) {
  const auto it = std::find_if(
      job.roles.begin(), job.roles.end(), [&](const Role& role) { return role.name == name; });
  if (it != job.roles.end()) return static_cast<std::uint32_t>(it - job.roles.begin());
  job.roles.push_back(Role{.name = name, .min_member = 0, .counts = {}});
  return static_cast<std::uint32_t>(job.roles.size() - 1);
}

std::uint32_t ClusterState::SubJobOf(Job& job, const std::optional<SubGroupKey>& key) {
  if (!key) return 0;
  if (const auto known = job.sub_job_of.find(*key); known != job.sub_job_of.end()) {
    return known->second;
  }
  auto index = static_cast<std::uint32_t>(job.sub_jobs.size());
  if (job.free_sub_jobs.empty()) {
    job.sub_jobs.emplace_back();
  } else {
    index = *job.free_sub_jobs.begin();
    job.free_sub_jobs.erase(job.free_sub_jobs.begin());
  }
  job.sub_job_of.emplace(*key, index);
  SubJob& sub_job = job.sub_jobs[index];
  sub_job.key = key;
  sub_job.match_index = ParseNumber(key->values.front()).value_or(0);
  ReadPolicy(job.spec, sub_job);
  return index;
}

void ClusterState::FreeSubJob(Job& job, std::uint32_t index) {
  job.sub_job_of.erase(*job.sub_jobs[index].key);
  job.free_sub_jobs.insert(index);
  job.sub_jobs[index] = SubJob{};
}

void ClusterState::JoinSubJob(TaskId id, std::uint32_t sub_job) {
  Task& task = tasks_[id.index()];
  std::vector<TaskId>& tasks = jobs_[task.job.index()].sub_jobs[sub_job].tasks;
  task.sub_job = sub_job;
  task.place = static_cast<std::uint32_t>(tasks.size());
  tasks.push_back(id);
}

void ClusterState::LeaveSubJob(TaskId id) {
  const Task& task = tasks_[id.index()];
  Job& job = jobs_[task.job.index()];
  SubJob& sub_job = job.sub_jobs[task.sub_job];
  const TaskId last = sub_job.tasks.back();
  sub_job.tasks[task.place] = last;
  tasks_[last.index()].place = task.place;
  sub_job.tasks.pop_back();
  if (sub_job.tasks.empty() && sub_job.key) FreeSubJob(job, task.sub_job);
}

Result<TaskId> ClusterState::AddTask(TaskSpec spec) {
  TRY_ASSIGN(Resources requests, Replace(total_requests_, {}, spec.constraints.request));
  TRY_ASSIGN(total_nonzero_, Replace(total_nonzero_, {}, NonzeroRequest(spec.constraints)));
  total_requests_ = std::move(requests);
  const TaskId id = TakeSlot<TaskId>(free_tasks_, tasks_.size());
  if (id.index() == tasks_.size()) tasks_.emplace_back();
  GrowTables();
  const auto node = spec.node_name.empty() ? std::nullopt : FindNode(spec.node_name);
  if (!spec.node_name.empty() && !node && HoldsNode(spec.status)) {
    AwaitHome(id, spec.node_name);
  }
  Task& task = tasks_[id.index()];
  task = Task{.name = std::move(spec.name),
              .uid = std::move(spec.uid),
              .job = spec.job,
              .class_id = {},
              .node = HoldsNode(spec.status) ? node.value_or(NodeId{}) : NodeId{},
              .priority = spec.priority,
              .status = spec.status,
              .best_effort = spec.constraints.request.IsBestEffort(),
              .gated = spec.gated,
              .alive = true,
              .created = spec.created};
  task.index = IndexInName(task.name);
  if (has_node_groups_ && task.job.valid()) {
    spec.constraints.node_groups = NodeGroupsOf(jobs_[task.job.index()]);
  }
  task.class_id = JoinClass(std::move(spec.constraints));
  if (task.node.valid() && IsStillToStart(task.status)) task.placed = Task::kCameWithNode;
  if (task.job.valid()) {
    Job& job = jobs_[task.job.index()];
    JoinSubJob(id, SubJobOf(job, spec.sub_group));
    task.role = RoleOf(job, spec.role);
    task.missed_policy = spec.missed_policy;
  }
  if (HoldsNode(task.status)) SetGpus(id, std::move(spec.gpus));
  Account(id, +1);
  if (task.job.valid()) Touch(task.job);
  return id;
}

void ClusterState::RemoveTask(TaskId id) {
  Task& task = tasks_[id.index()];
  Account(id, -1);
  SetGpus(id, {});
  total_requests_.Sub(task_class(task.class_id).request);
  total_nonzero_.Sub(NonzeroRequest(task_class(task.class_id)));
  if (task.job.valid()) LeaveSubJob(id);
  if (!task.node.valid()) ForgetHome(id);
  if (task.job.valid()) Touch(task.job);
  LeaveClass(task.class_id);
  task = Task{};
  free_tasks_.push_back(id.value);
}

void ClusterState::SetTaskStatus(TaskId id, TaskStatus status) {
  const NodeId node = tasks_[id.index()].node;
  if (!node.valid() && !HoldsNode(status)) ForgetHome(id);
  Move(id, status, node);
}

void ClusterState::AwaitHome(TaskId id, const std::string& node) {
  homeless_[node].insert(id);
  homes_.emplace(id, node);
}

void ClusterState::ForgetHome(TaskId id) {
  const auto home = homes_.find(id);
  if (home == homes_.end()) return;
  const auto waiting = homeless_.find(home->second);
  waiting->second.erase(id);
  if (waiting->second.empty()) homeless_.erase(waiting);
  homes_.erase(home);
}

void ClusterState::AccountOnNode(TaskId id, int sign) {
  const Task& task = tasks_[id.index()];
  const ClassSpec& spec = task_class(task.class_id);
  const std::size_t row = task.node.index();
  const bool uses = task.status != TaskStatus::kPipelined;
  const bool blocks_future = task.status != TaskStatus::kReleasing;
  if (uses) {
    AddTo(used_, row, spec.request, sign);
    AddTo(idle_, row, spec.request, -sign);
    nonzero_[row].cpu += sign * spec.nonzero_cpu;
    nonzero_[row].memory += sign * spec.nonzero_memory;
    AddTo(ports_[row], spec.host_ports, sign);
  } else {
    pipelined_tasks_ += static_cast<std::size_t>(sign);
  }
  if (blocks_future) {
    AddTo(future_idle_, row, spec.request, -sign);
  } else {
    releasing_tasks_ += static_cast<std::size_t>(sign);
  }
  AddTo(tasks_on_[row], std::span(&id, 1), sign);
  Touch(task.node);
  if (sums_.stale) return;
  ++sums_.last_version;
  for (const HyperNodeId hypernode : tree_.HyperNodesOf(tree_.ChainOf(task.node))) {
    sums_.versions[hypernode.index()] = sums_.last_version;
    AddTo(sums_.used, hypernode.index(), spec.request, sign);
    if (uses) AddTo(sums_.idle, hypernode.index(), spec.request, -sign);
    if (blocks_future) AddTo(sums_.future_idle, hypernode.index(), spec.request, -sign);
  }
}

void ClusterState::AccountOnWorkload(const Task& task, int sign) {
  Job& job = jobs_[task.job.index()];
  Count(job.counts, task, sign);
  Count(job.sub_jobs[task.sub_job].counts, task, sign);
  Count(job.roles[task.role].counts, task, sign);
  const Resources& request = task_class(task.class_id).request;
  const bool holds = IsAllocated(task.status) || task.status == TaskStatus::kPipelined;
  if (holds) AddTo(job.allocated, request, sign);
  if (!job.queue.valid()) return;
  Queue& queue = queues_[job.queue.index()];
  if (holds) AddTo(queue.allocated, request, sign);
  if (task.status == TaskStatus::kPending) AddTo(queue.pending, request, sign);
}

void ClusterState::Account(TaskId id, int sign) {
  const Task& task = tasks_[id.index()];
  if (task.node.valid()) AccountOnNode(id, sign);
  if (task.job.valid()) AccountOnWorkload(task, sign);
}

void ClusterState::Move(TaskId id, TaskStatus status, NodeId node) {
  Task& task = tasks_[id.index()];
  if (node == task.node && IsAllocated(status) && IsAllocated(task.status) && task.job.valid()) {
    Job& job = jobs_[task.job.index()];  // only the counts tell these statuses apart
    TaskCounts* const counts[] = {
        &job.counts, &job.sub_jobs[task.sub_job].counts, &job.roles[task.role].counts};
    for (TaskCounts* count : counts) Count(*count, task, -1);
    task.status = status;
    for (TaskCounts* count : counts) Count(*count, task, +1);
    Touch(task.job);
    return;
  }
  Account(id, -1);
  const NodeId before = task.node;
  task.status = status;
  task.node = HoldsNode(status) ? node : NodeId{};
  if (task.node != before) task.placed = task.node.valid() ? ++placements_ : 0;
  if (!HoldsNode(status)) SetGpus(id, {});
  Account(id, +1);
  if (task.job.valid()) Touch(task.job);
}

const GpuClaim& ClusterState::GpusOf(TaskId id) const {
  static const GpuClaim none;
  return id.index() < gpu_claims_.size() ? gpu_claims_[id.index()] : none;
}

void ClusterState::SetGpus(TaskId id, GpuClaim gpus) {
  if (gpus.empty() && id.index() >= gpu_claims_.size()) return;
  if (id.index() >= gpu_claims_.size()) gpu_claims_.resize(tasks_.size());
  GpuClaim& held = gpu_claims_[id.index()];
  if (gpus.empty() && held.empty()) return;
  const std::string_view name = tasks_[id.index()].name;
  const std::string_view name_space = name.substr(0, name.find('/'));
  auto total = gpu_totals_.find(name_space);
  if (total == gpu_totals_.end()) total = gpu_totals_.emplace(name_space, GpuTotals{}).first;
  total->second.Add(TotalOf(held), -1);
  total->second.Add(TotalOf(gpus));
  held = std::move(gpus);
}

GpuTotals ClusterState::GpusIn(std::string_view name_space) const {
  const auto it = gpu_totals_.find(name_space);
  return it == gpu_totals_.end() ? GpuTotals{} : it->second;
}

std::vector<TaskId> ClusterState::AllTasks() const {
  std::vector<TaskId> all;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].alive) all.push_back(IdAt<TaskId>(i));
  }
  return all;
}

// ---- decisions
// ------------------------------------------------------------------------------------------------------

void ClusterState::Allocate(TaskId id, NodeId node, GpuClaim gpus) {
  const Task& task = tasks_[id.index()];
  CHECK(task.status == TaskStatus::kPending);
  CHECK(task_class(task.class_id).request.FitsIn(Idle(node)));
  Settle();
  journal_.push_back({id, task.status, task.node});
  if (!gpus.empty()) SetGpus(id, std::move(gpus));
  Move(id, TaskStatus::kAllocated, node);
}

void ClusterState::Pipeline(TaskId id, NodeId node, GpuClaim gpus) {
  const Task& task = tasks_[id.index()];
  CHECK(task.status == TaskStatus::kPending);
  CHECK(task_class(task.class_id).request.FitsIn(FutureIdle(node)));
  Settle();
  journal_.push_back({id, task.status, task.node});
  if (!gpus.empty()) SetGpus(id, std::move(gpus));
  Move(id, TaskStatus::kPipelined, node);
}

void ClusterState::RollbackTo(Savepoint savepoint) {
  CHECK(savepoint <= journal_.size());
  while (journal_.size() > savepoint) {
    const Change change = journal_.back();
    journal_.pop_back();
    Move(change.task, change.status, change.node);
  }
}

std::vector<TaskId> ClusterState::ChangedSince(Savepoint savepoint) const {
  std::vector<TaskId> tasks;
  for (std::size_t i = savepoint; i < journal_.size(); ++i) tasks.push_back(journal_[i].task);
  return tasks;
}

void ClusterState::Commit() {
  for (const Change& change : journal_) {
    const Task& task = tasks_[change.task.index()];
    if (task.status == TaskStatus::kAllocated) {
      Move(change.task, TaskStatus::kBinding, task.node);
    } else {
      held_.push_back(change);
    }
  }
  journal_.clear();
}

void ClusterState::Hold() {
  held_.insert(held_.end(), journal_.begin(), journal_.end());
  journal_.clear();
}

void ClusterState::ReleaseHeld() {
  CHECK(journal_.empty());
  while (!held_.empty()) {
    Move(held_.back().task, held_.back().status, held_.back().node);
    held_.pop_back();
  }
}

std::vector<TaskId> ClusterState::HeldTasks() const {
  std::vector<TaskId> tasks;
  for (const Change& change : held_) tasks.push_back(change.task);
  return tasks;
}

}  // namespace strata
