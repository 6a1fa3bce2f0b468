#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/ids.h"
#include "sched/session.h"

namespace strata {

// Jobs by queue, handed out in Volcano's order: from the best queue the best job, then the queues
// are compared again. Incomplete gangs come before all other jobs, whatever their priority and
// queue, or what runs of them could hold its room for ever and never start.
class JobQueues {
 public:
  explicit JobQueues(const Session& session) : session_(session) {}

  void Add(JobId job);
  // The best queue that has jobs left; it is not offered again before PutBack.
  [[nodiscard]] std::optional<QueueId> TakeQueue();
  void PutBack(QueueId queue);
  // REQUIRES: the queue has jobs left.
  [[nodiscard]] JobId TakeJob(QueueId queue);
  // True when TakeJob gives an incomplete gang. REQUIRES: the queue has jobs left.
  [[nodiscard]] bool HasIncomplete(QueueId queue) const {
    return incomplete_.contains(jobs_.at(queue).front());
  }
  // All jobs left in one queue, in no particular order.
  [[nodiscard]] const std::vector<JobId>& Left(QueueId queue) { return jobs_[queue]; }

 private:
  [[nodiscard]] bool Before(JobId a, JobId b) const;

  const Session& session_;
  std::vector<QueueId> queues_;                 // those with jobs that are not taken
  std::map<QueueId, std::vector<JobId>> jobs_;  // heaps, the best job in front
  std::set<JobId> incomplete_;                  // gangs that were so when they were added
};

}  // namespace strata
