// The jobs of a WorkloadTable, and which of them changed or wait for something.
#include <algorithm>
#include <iterator>
#include <utility>

#include "model/slots.h"
#include "model/workload_table.h"

namespace strata {
namespace {

// Fills in what the policy of a sub-group says of it, if there still is one.
void ReadPolicy(const JobSpec& job, SubJob& sub_job) {
  if (sub_job.key->policy >= job.sub_groups.size()) return;
  const SubGroupPolicy& policy = job.sub_groups[sub_job.key->policy];
  sub_job.name = policy.name;
  for (const std::string& value : sub_job.key->values) sub_job.name += "-" + value;
  sub_job.min_available = policy.size;
  sub_job.topology = policy.topology;
}

bool Waits(const Job& job) {
  if (!job.alive) return false;
  return job.phase == JobPhase::kPending || job.counts.Of(TaskStatus::kPending) > 0 ||
         job.counts.Total() == 0;
}

}  // namespace

JobId WorkloadTable::UpsertJob(JobSpec spec) {
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
  FollowPolicies(job);
  for (Role& role : job.roles) role.min_member = 0;
  for (const auto& [role, min_member] : job.spec.min_task_member) {
    job.roles[RoleOf(job, role)].min_member = min_member;
  }
  Touch(id);
  return id;
}

// The sub-jobs have what the policies of the job say now.
void WorkloadTable::FollowPolicies(Job& job) {
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
}

void WorkloadTable::RemoveJob(JobId id) {
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

std::optional<JobId> WorkloadTable::FindJob(std::string_view name) const {
  const auto it = job_ids_.find(name);
  return it == job_ids_.end() ? std::nullopt : std::optional(it->second);
}

std::uint32_t WorkloadTable::RoleOf(Job& job, const std::string& name) {
  const auto it = std::find_if(
      job.roles.begin(), job.roles.end(), [&](const Role& role) { return role.name == name; });
  if (it != job.roles.end()) return static_cast<std::uint32_t>(it - job.roles.begin());
  job.roles.push_back(Role{.name = name, .min_member = 0, .counts = {}});
  return static_cast<std::uint32_t>(job.roles.size() - 1);
}

std::uint32_t WorkloadTable::SubJobOf(Job& job, const std::optional<SubGroupKey>& key) {
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
  sub_job.match_index = key->FirstNumber();
  ReadPolicy(job.spec, sub_job);
  return index;
}

void WorkloadTable::FreeSubJob(Job& job, std::uint32_t index) {
  job.sub_job_of.erase(*job.sub_jobs[index].key);
  job.free_sub_jobs.insert(index);
  job.sub_jobs[index] = SubJob{};
}

void WorkloadTable::JoinSubJob(TaskId id, std::uint32_t sub_job) {
  Task& task = tasks_[id.index()];
  std::vector<TaskId>& tasks = jobs_[task.job.index()].sub_jobs[sub_job].tasks;
  task.sub_job = sub_job;
  task.place = static_cast<std::uint32_t>(tasks.size());
  tasks.push_back(id);
}

void WorkloadTable::LeaveSubJob(TaskId id) {
  const Task& task = tasks_[id.index()];
  Job& job = jobs_[task.job.index()];
  SubJob& sub_job = job.sub_jobs[task.sub_job];
  const TaskId last = sub_job.tasks.back();
  sub_job.tasks[task.place] = last;
  tasks_[last.index()].place = task.place;
  sub_job.tasks.pop_back();
  if (sub_job.tasks.empty() && sub_job.key) FreeSubJob(job, task.sub_job);
}

void WorkloadTable::Touch(JobId id) {
  touched_jobs_.Touch(id);
  if (id.index() >= waiting_at_.size()) waiting_at_.resize(jobs_.size(), 0);
  std::uint32_t& at = waiting_at_[id.index()];
  if (Waits(jobs_[id.index()]) == (at != 0)) return;
  if (at == 0) {
    waiting_jobs_.push_back(id);
    at = static_cast<std::uint32_t>(waiting_jobs_.size());
    return;
  }
  const JobId last = waiting_jobs_.back();
  waiting_jobs_[at - 1] = last;
  waiting_jobs_.pop_back();
  waiting_at_[last.index()] = at;
  at = 0;
}

std::optional<std::vector<JobId>> WorkloadTable::JobsTouchedSince(std::uint64_t version) const {
  const auto touched = touched_jobs_.Since(version);
  if (!touched) return std::nullopt;
  std::vector<JobId> jobs;
  std::unique_copy(touched->begin(), touched->end(), std::back_inserter(jobs));  // mostly runs
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

void WorkloadTable::ListJobs() const {
  live_jobs_.clear();
  live_jobs_.reserve(job_ids_.size());
  for (const auto& [name, id] : job_ids_) live_jobs_.push_back(id);
}

void WorkloadTable::SetJobPhase(JobId id, JobPhase phase) {
  jobs_[id.index()].phase = phase;
  Touch(id);
}

void WorkloadTable::SetAllocatedHyperNode(JobId id, std::string name) {
  jobs_[id.index()].allocated_hypernode = std::move(name);
  Touch(id);
}

void WorkloadTable::SetAllocatedHyperNode(JobId id, std::size_t sub_job, std::string name) {
  jobs_[id.index()].sub_jobs[sub_job].allocated_hypernode = std::move(name);
  Touch(id);
}

}  // namespace strata
