#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "sched/session.h"

namespace strata {

// Jobs by queue, handed out as Volcano does: the best queue, of it the best job; then the queue is
// weighed anew.
class JobQueues {
 public:
  explicit JobQueues(const Session& session) : session_(session) {}

  void Add(JobId job);
  // The best queue that has jobs left; it stays out until PutBack.
  [[nodiscard]] std::optional<QueueId> TakeQueue();
  void PutBack(QueueId queue);
  // REQUIRES: the queue has jobs left.
  [[nodiscard]] JobId TakeJob(QueueId queue);
  // Everything that is left of one queue.
  [[nodiscard]] const std::vector<JobId>& Left(QueueId queue) { return jobs_[queue]; }

 private:
  const Session& session_;
  std::vector<QueueId> queues_;                 // those with jobs that are not out
  std::map<QueueId, std::vector<JobId>> jobs_;  // heaps, the best job in front
};

}  // namespace strata
