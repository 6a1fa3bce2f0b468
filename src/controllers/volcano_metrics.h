#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "controllers/cache.h"

// Figures under the names that Volcano's controllers have for them, in the text format of
// Prometheus: dashboards ask for these.
namespace strata::controllers {

// volcano_queue_pod_group_pending_count{queue_name="q"} and so on, for each queue. Pure.
[[nodiscard]] std::string GroupMetrics(const std::vector<ObjectRef>& queues,
                                       const std::vector<ObjectRef>& groups);

// volcano_job_completed_phase_count and volcano_job_failed_phase_count: 1 for each job that has
// come to that end, as long as it is there. Pure.
[[nodiscard]] std::string JobMetrics(const std::vector<ObjectRef>& jobs);

// volcano_controller_job_to_pod_creation_latency_milliseconds. Thread-safe.
class CreationLatency {
 public:
  void Observe(Duration from_job_to_pod);
  [[nodiscard]] std::string Text() const;

 private:
  static constexpr std::size_t kBuckets = 15;  // the first ends at 5 ms, each next at twice as much

  mutable std::mutex mutex_;
  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t total_ = 0;
  double sum_ = 0;
};

}  // namespace strata::controllers
