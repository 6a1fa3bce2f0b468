#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/plugins/queue_shares.h"

namespace strata {

// What jobs have been promised and do not have, and what they hold beyond their minimum, summed up
// by queue. Kept from cycle to cycle: only jobs that changed are looked at again. Sums are exact.
class PromiseBook {
 public:
  // COST: O(jobs changed since the last call), O(jobs) for the first.
  void Refresh(const ClusterState& state);

  // Sums over the jobs of one queue, and over all jobs including those without a queue. One amount
  // for each resource below `size`.
  [[nodiscard]] Amounts PromisedIn(QueueId queue, std::size_t size) const;
  [[nodiscard]] Amounts PromisedInAll(std::size_t size) const;
  [[nodiscard]] Amounts ElasticIn(QueueId queue, std::size_t size) const;

 private:
  struct Sums {
    WideResources promised;  // any number of jobs may be promised the largest amount
    WideResources elastic;
  };
  // What one job adds to the sums of its queue.
  struct Part {
    QueueId queue;
    Resources promised;
    Resources elastic;
  };

  [[nodiscard]] static Part PartOf(const ClusterState& state, const Job& job);
  void Add(const Part& part, int sign);
  void Replace(const ClusterState& state, JobId job);

  std::uint64_t seen_ = 0;   // changes of jobs before this one are in
  std::vector<Part> parts_;  // by job
  std::map<QueueId, Sums> queues_;
};

}  // namespace strata
