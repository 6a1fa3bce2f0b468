#include "model/journal.h"

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace strata {
namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

// The sub-jobs of tasks: (job, index of the sub-job).
using SubJobs = std::set<std::pair<JobId, std::uint32_t>>;

SubJobs SubJobsOf(const WorkloadTable& workload, const std::vector<TaskId>& tasks) {
  SubJobs sub_jobs;
  auto last = sub_jobs.end();
  for (const TaskId id : tasks) {
    const Task& task = workload.task(id);
    const std::pair key(task.job, task.sub_job);
    if (last == sub_jobs.end() || *last != key) last = sub_jobs.insert(key).first;
  }
  return sub_jobs;
}

}  // namespace

// ---- steps

void Journal::Place(TaskId task, TaskStatus status, NodeId node, GpuClaim gpus) {
  sums_.Settle();
  if (!gpus.empty()) workload_.SetGpus(task, std::move(gpus));
  workload_.Move(task, status, node);
}

void Journal::Allocate(TaskId id, NodeId node, GpuClaim gpus) {
  const Task& task = workload_.task(id);
  CHECK(task.status == TaskStatus::kPending);
  CHECK(classes_.spec(task.class_id).request.FitsIn(nodes_.Idle(node)));
  steps_.emplace_back(AllocateStep{id});
  Place(id, TaskStatus::kAllocated, node, std::move(gpus));
}

void Journal::Pipeline(TaskId id, NodeId node, GpuClaim gpus) {
  const Task& task = workload_.task(id);
  CHECK(task.status == TaskStatus::kPending);
  CHECK(classes_.spec(task.class_id).request.FitsIn(nodes_.FutureIdle(node)));
  steps_.emplace_back(PipelineStep{id});
  Place(id, TaskStatus::kPipelined, node, std::move(gpus));
}

void Journal::Evict(TaskId id) {
  const Task& task = workload_.task(id);
  CHECK(task.status == TaskStatus::kBound || task.status == TaskStatus::kRunning);
  CHECK(task.node.valid());
  steps_.emplace_back(EvictStep{id, task.status});
  workload_.Move(id, TaskStatus::kReleasing, task.node);
}

void Journal::SetDomain(JobId id, const std::string& hypernode) {
  const Job& job = workload_.job(id);
  if (job.allocated_hypernode == hypernode) return;
  steps_.emplace_back(SetDomainStep{id, kWholeJob});
  former_domains_.push_back(job.allocated_hypernode);
  workload_.SetAllocatedHyperNode(id, hypernode);
}

void Journal::SetDomain(JobId id, std::size_t sub_job, const std::string& hypernode) {
  const SubJob& the_sub_job = workload_.job(id).sub_jobs[sub_job];
  if (the_sub_job.allocated_hypernode == hypernode) return;
  steps_.emplace_back(SetDomainStep{id, static_cast<std::uint32_t>(sub_job)});
  former_domains_.push_back(the_sub_job.allocated_hypernode);
  workload_.SetAllocatedHyperNode(id, sub_job, hypernode);
}

// ---- what becomes of them

struct Journal::Undo {
  static_assert(std::is_trivially_copyable_v<Step> && sizeof(Step) <= 16);  // a gang has thousands
  WorkloadTable& workload;
  std::vector<std::string>& former_domains;

  void operator()(const AllocateStep& step) const {
    workload.Move(step.task, TaskStatus::kPending, NodeId{});
  }
  void operator()(const PipelineStep& step) const {
    workload.Move(step.task, TaskStatus::kPending, NodeId{});
  }
  void operator()(const EvictStep& step) const {
    workload.Move(step.task, step.was, workload.task(step.task).node);
  }
  void operator()(const SetDomainStep& step) const {
    std::string was = std::move(former_domains.back());
    former_domains.pop_back();
    if (step.sub_job == kWholeJob) {
      workload.SetAllocatedHyperNode(step.job, std::move(was));
    } else {
      workload.SetAllocatedHyperNode(step.job, step.sub_job, std::move(was));
    }
  }
};

// Commits one step after the other.
struct Journal::Commitment {
  WorkloadTable& workload;
  std::vector<Step>& held;
  std::vector<std::string>& former_domains;
  Committed done = {};
  std::vector<const SetDomainStep*> domains = {};

  void operator()(const AllocateStep& step) {
    workload.Move(step.task, TaskStatus::kBinding, workload.task(step.task).node);
    done.bound.push_back(step.task);
  }
  void operator()(const PipelineStep& step) { held.emplace_back(step); }
  void operator()(const EvictStep& step) {
    done.evicted.push_back({step.task, workload.task(step.task).node, step.was});
  }
  void operator()(const SetDomainStep& step) { domains.push_back(&step); }

  // Takes back the domains of jobs and sub-jobs of which no task was bound.
  void EndDomains() const {
    if (domains.empty()) return;
    const SubJobs bound = SubJobsOf(workload, done.bound);
    // Newest first: several steps about one domain lead back to what it was before the first.
    for (auto it = domains.rbegin(); it != domains.rend(); ++it) {
      const SetDomainStep& step = **it;
      const auto at_job = bound.lower_bound({step.job, 0});
      const bool lasts = step.sub_job == kWholeJob
                             ? at_job != bound.end() && at_job->first == step.job
                             : bound.contains({step.job, step.sub_job});
      if (lasts) {
        former_domains.pop_back();
      } else {
        Undo{workload, former_domains}(step);
      }
    }
  }
};

void Journal::RollbackTo(Savepoint savepoint) {
  CHECK(savepoint <= steps_.size());
  while (steps_.size() > savepoint) {
    std::visit(Undo{workload_, former_domains_}, steps_.back());
    steps_.pop_back();
  }
}

Journal::Committed Journal::Commit() {
  Commitment commitment{workload_, held_, former_domains_};
  for (const Step& step : steps_) std::visit(commitment, step);
  commitment.EndDomains();
  steps_.clear();
  return std::move(commitment.done);
}

void Journal::Hold() {
  for (auto it = steps_.rbegin(); it != steps_.rend(); ++it) {
    if (const auto* domain = std::get_if<SetDomainStep>(&*it)) {
      Undo{workload_, former_domains_}(*domain);
    }
  }
  for (const Step& step : steps_) {
    if (!std::holds_alternative<SetDomainStep>(step)) held_.push_back(step);
  }
  steps_.clear();
}

void Journal::ReleaseHeld() {
  CHECK(steps_.empty());
  while (!held_.empty()) {
    std::visit(Undo{workload_, former_domains_}, held_.back());
    held_.pop_back();
  }
}

void Journal::GiveBack(const std::vector<TaskId>& tasks) {
  CHECK(steps_.empty());
  const std::set<TaskId> given(tasks.begin(), tasks.end());
  const auto is_given = [&](const Step& step) {
    const auto* pipelined = std::get_if<PipelineStep>(&step);
    return pipelined != nullptr && given.contains(pipelined->task);
  };
  for (const Step& step : held_) {
    if (is_given(step)) std::visit(Undo{workload_, former_domains_}, step);
  }
  CHECK(std::erase_if(held_, is_given) == given.size());
}

void Journal::ListPlaced(const Step& step, std::vector<TaskId>& tasks) {
  std::visit(Overloaded{[&](const AllocateStep& allocated) { tasks.push_back(allocated.task); },
                        [&](const PipelineStep& pipelined) { tasks.push_back(pipelined.task); },
                        [](const EvictStep&) {},
                        [](const SetDomainStep&) {}},
             step);
}

std::vector<TaskId> Journal::PlacedSince(Savepoint savepoint) const {
  std::vector<TaskId> tasks;
  if (savepoint < steps_.size()) tasks.reserve(steps_.size() - savepoint);
  for (std::size_t i = savepoint; i < steps_.size(); ++i) ListPlaced(steps_[i], tasks);
  return tasks;
}

std::vector<TaskId> Journal::HeldTasks() const {
  std::vector<TaskId> tasks;
  for (const Step& step : held_) ListPlaced(step, tasks);
  return tasks;
}

}  // namespace strata
