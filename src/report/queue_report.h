#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/cluster_state.h"
#include "sched/config.h"
#include "sched/plugins/queue_shares.h"

namespace strata {

// The queues with what they have and may have: what `strata queue list` shows.
struct QueueReport {
  struct Job {
    std::string name;  // "namespace/podgroup"
    std::string phase;
    std::string reason;  // why it waits: a word of docs/reasons.md; "" when it does not wait
    std::string message;
  };
  struct Row {
    std::string name;
    std::string state;   // Open, Closed, Closing, Unknown
    std::string parent;  // "" for the root
    std::int32_t weight = 1;
    std::int32_t priority = 0;
    // Amounts are by ResourceId, in the unit of each resource. Under a hierarchy they count all
    // that is below the queue.
    Amounts allocated;
    Amounts request;  // allocated, and asked for by pending pods
    Amounts guarantee;
    ResourceLimits capability;  // as the queue's spec has it
    // By the plugin that divides the cluster; none when there is none, or it leaves the queue out.
    std::optional<Amounts> deserved;
    std::optional<Amounts> real_capability;  // infinite where it is not limited
    std::optional<double> share;
    // What its jobs could still be given now: at most what its limit, and those of the queues above
    // it, leave, and no more than is free on nodes that take pods.
    Amounts left;
    std::size_t jobs = 0;
    std::vector<Job> waiting;  // in the order given
  };

  std::string plugin;  // "proportion", "capacity", or "" when neither is configured
  bool hierarchical = false;
  std::vector<Row> rows;       // ascending by name
  std::vector<Job> elsewhere;  // waiting jobs whose queue does not exist
};

// The queue of that name alone; kNotFound with the nearest names.
[[nodiscard]] Status NarrowToQueue(const std::string& name, QueueReport& report);

// Shares are computed from `state` as it is now, by the plugin of `config` (proportion or capacity;
// if both are configured, the one listed first). `jobs` are counted, and listed where they wait;
// those that are not in `state` are ignored. REQUIRES: no cycle is running.
[[nodiscard]] QueueReport MakeQueueReport(const ClusterState& state,
                                          const SchedulerConfig& config,
                                          std::span<const QueueReport::Job> jobs);

}  // namespace strata
