#include "sched/job_queues.h"

#include <algorithm>

#include "base/check.h"

namespace strata {

void JobQueues::Add(JobId job) {
  const QueueId queue = session_.state().workload().job(job).queue;
  std::vector<JobId>& heap = jobs_[queue];
  if (heap.empty() && std::find(queues_.begin(), queues_.end(), queue) == queues_.end()) {
    queues_.push_back(queue);
  }
  if (session_.plugins().IsIncompleteGang(session_.state().workload().job(job))) {
    incomplete_.insert(job);
  } else {
    incomplete_.erase(job);
  }
  heap.push_back(job);
  std::push_heap(heap.begin(), heap.end(), [&](JobId a, JobId b) { return Before(b, a); });
}

std::optional<QueueId> JobQueues::TakeQueue() {
  std::erase_if(queues_, [&](QueueId queue) { return jobs_[queue].empty(); });
  if (queues_.empty()) return std::nullopt;
  const auto best = std::min_element(queues_.begin(), queues_.end(), [&](QueueId a, QueueId b) {
    if (!incomplete_.empty() && HasIncomplete(a) != HasIncomplete(b)) return HasIncomplete(a);
    return session_.plugins().QueueBefore(a, b);
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
  std::pop_heap(heap.begin(), heap.end(), [&](JobId a, JobId b) { return Before(b, a); });
  const JobId job = heap.back();
  heap.pop_back();
  return job;
}

bool JobQueues::Before(JobId a, JobId b) const {
  if (!incomplete_.empty() && incomplete_.contains(a) != incomplete_.contains(b)) {
    return incomplete_.contains(a);
  }
  return session_.plugins().JobBefore(a, b);
}

}  // namespace strata
