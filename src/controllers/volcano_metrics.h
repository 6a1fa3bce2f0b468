#pragma once

#include <prometheus/histogram.h>

#include <vector>

#include "base/clock.h"
#include "controllers/cache.h"
#include "obs/metric_families.h"

// Figures under the names that Volcano's controllers have for them: dashboards ask for these.
namespace strata::controllers {

// volcano_queue_pod_group_pending_count{queue_name="q"} and so on, for each queue. Pure.
[[nodiscard]] obs::Families GroupMetrics(const std::vector<ObjectRef>& queues,
                                         const std::vector<ObjectRef>& groups);

// volcano_job_completed_phase_count and volcano_job_failed_phase_count: 1 for each job that has
// come to that end, as long as it is there. Pure.
[[nodiscard]] obs::Families JobMetrics(const std::vector<ObjectRef>& jobs);

// volcano_controller_job_to_pod_creation_latency_milliseconds. Thread-safe.
class CreationLatency {
 public:
  CreationLatency();

  void Observe(Duration from_job_to_pod);
  [[nodiscard]] prometheus::MetricFamily Metrics() const;

 private:
  prometheus::Histogram histogram_;
};

}  // namespace strata::controllers
