#include "controllers/volcano_metrics.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "controllers/object_meta.h"
#include "controllers/queue_reconcile.h"
#include "json/access.h"
#include "objects/job.h"

namespace strata::controllers {
namespace {

using nlohmann::json;

// 15 buckets: the first ends at 5 ms, each next one at twice as much.
prometheus::Histogram::BucketBoundaries LatencyBounds() {
  prometheus::Histogram::BucketBoundaries bounds;
  for (double bound = 5; bounds.size() < 15; bound *= 2) bounds.push_back(bound);
  return bounds;
}

std::string QueueOf(const json& job) {
  const std::string& queue = TextAt(job, {"spec", "queue"});
  return queue.empty() ? "default" : queue;
}

}  // namespace

obs::Families GroupMetrics(const std::vector<ObjectRef>& queues,
                           const std::vector<ObjectRef>& groups) {
  constexpr std::array<std::pair<const char*, std::int64_t GroupCounts::*>, 5> kPhases = {
      {{"inqueue", &GroupCounts::inqueue},
       {"pending", &GroupCounts::pending},
       {"running", &GroupCounts::running},
       {"unknown", &GroupCounts::unknown},
       {"completed", &GroupCounts::completed}}};
  std::map<std::string, GroupCounts> all = CountGroups(groups);
  std::vector<std::pair<std::string, GroupCounts>> counted;
  for (const ObjectRef& queue : queues) {
    const std::string& name = TextAt(*queue, {"metadata", "name"});
    counted.emplace_back(name, all[name]);
  }
  obs::Families families;
  for (const auto& [phase, count] : kPhases) {
    auto& family = families.emplace_back(
        obs::GaugeFamily(fmt::format("volcano_queue_pod_group_{}_count", phase),
                         fmt::format("PodGroups of the queue that are {}.", phase)));
    for (const auto& [queue, counts] : counted) {
      obs::AddSample(family, {{"queue_name", queue}}, static_cast<double>(counts.*count));
    }
  }
  return families;
}

obs::Families JobMetrics(const std::vector<ObjectRef>& jobs) {
  obs::Families families;
  for (const auto& [word, phase] : {std::pair{"completed", objects::JobPhase::kCompleted},
                                    {"failed", objects::JobPhase::kFailed}}) {
    auto& family = families.emplace_back(obs::CounterFamily(
        fmt::format("volcano_job_{}_phase_count", word), fmt::format("Jobs that have {}.", word)));
    for (const ObjectRef& job : jobs) {
      if (TextAt(*job, {"status", "state", "phase"}) != ToString(phase)) continue;
      const std::string name =
          TextAt(*job, {"metadata", "namespace"}) + "/" + TextAt(*job, {"metadata", "name"});
      obs::AddSample(family, {{"job_name", name}, {"queue_name", QueueOf(*job)}}, 1);
    }
  }
  return families;
}

CreationLatency::CreationLatency() : histogram_(LatencyBounds()) {}

void CreationLatency::Observe(Duration from_job_to_pod) {
  histogram_.Observe(
      std::max(0.0, std::chrono::duration<double, std::milli>(from_job_to_pod).count()));
}

prometheus::MetricFamily CreationLatency::Metrics() const {
  prometheus::MetricFamily family;
  family.name = "volcano_controller_job_to_pod_creation_latency_milliseconds";
  family.help = "From the creation of a Job to that of each of its pods.";
  family.type = prometheus::MetricType::Histogram;
  family.metric.push_back(histogram_.Collect());
  return family;
}

}  // namespace strata::controllers
