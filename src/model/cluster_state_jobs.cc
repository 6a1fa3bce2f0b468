// The part of ClusterState that knows which jobs changed and which wait for something.
#include <algorithm>
#include <iterator>
#include <utility>

#include "model/cluster_state.h"

namespace strata {
namespace {

bool Waits(const Job& job) {
  if (!job.alive) return false;
  return job.phase == JobPhase::kPending || job.counts.Of(TaskStatus::kPending) > 0 ||
         job.counts.Total() == 0;
}

}  // namespace

void ClusterState::Touch(JobId id) {
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

std::optional<std::vector<JobId>> ClusterState::JobsTouchedSince(std::uint64_t version) const {
  const auto touched = touched_jobs_.Since(version);
  if (!touched) return std::nullopt;
  std::vector<JobId> jobs;
  std::unique_copy(touched->begin(), touched->end(), std::back_inserter(jobs));  // mostly runs
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

void ClusterState::ListJobs() const {
  live_jobs_.clear();
  live_jobs_.reserve(job_ids_.size());
  for (const auto& [name, id] : job_ids_) live_jobs_.push_back(id);
}

void ClusterState::SetQueueOf(Job& job, QueueId queue) {
  if (job.queue.valid()) --queues_[job.queue.index()].jobs;
  job.queue = queue;
  if (job.queue.valid()) ++queues_[job.queue.index()].jobs;
}

void ClusterState::SetJobPhase(JobId id, JobPhase phase) {
  jobs_[id.index()].phase = phase;
  Touch(id);
}

void ClusterState::SetAllocatedHyperNode(JobId id, std::string name) {
  jobs_[id.index()].allocated_hypernode = std::move(name);
  Touch(id);
}

void ClusterState::SetAllocatedHyperNode(JobId id, std::size_t sub_job, std::string name) {
  jobs_[id.index()].sub_jobs[sub_job].allocated_hypernode = std::move(name);
  Touch(id);
}

}  // namespace strata
