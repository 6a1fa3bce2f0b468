#include "sched/job_queues.h"

#include <algorithm>

#include "base/check.h"

namespace strata {

void JobQueues::Add(JobId job) {
  const QueueId queue = session_.state().job(job).queue;
  std::vector<JobId>& heap = jobs_[queue];
  if (heap.empty() && std::find(queues_.begin(), queues_.end(), queue) == queues_.end()) {
    queues_.push_back(queue);
  }
  heap.push_back(job);
  std::push_heap(
      heap.begin(), heap.end(), [&](JobId a, JobId b) { return session_.JobBefore(b, a); });
}

std::optional<QueueId> JobQueues::TakeQueue() {
  std::erase_if(queues_, [&](QueueId queue) { return jobs_[queue].empty(); });
  if (queues_.empty()) return std::nullopt;
  const auto best = std::min_element(queues_.begin(), queues_.end(), [&](QueueId a, QueueId b) {
    return session_.QueueBefore(a, b);
  });
  const QueueId queue = *best;
  queues_.erase(best);
  return queue;
}

void JobQueues::PutBack(QueueId queue) {
  if (std::find(queues_.begin(), queues_.end(), queue) == queues_.end()) queues_.push_back(queue);
}

JobId JobQueues::TakeJob(QueueId queue) {
  std::vector<JobId>& heap = jobs_[queue];
  CHECK(!heap.empty());
  std::pop_heap(
      heap.begin(), heap.end(), [&](JobId a, JobId b) { return session_.JobBefore(b, a); });
  const JobId job = heap.back();
  heap.pop_back();
  return job;
}

}  // namespace strata
