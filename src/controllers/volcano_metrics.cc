#include "controllers/volcano_metrics.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "controllers/json_fields.h"
#include "controllers/queue_reconcile.h"
#include "objects/job.h"

namespace strata::controllers {
namespace {

using nlohmann::json;

constexpr double kFirstBound = 5;  // ms
constexpr const char* kLatencyName = "volcano_controller_job_to_pod_creation_latency_milliseconds";

std::string HeadOf(std::string_view name, std::string_view help, std::string_view type) {
  return fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

std::string QueueOf(const json& job) {
  const std::string& queue = TextAt(job, {"spec", "queue"});
  return queue.empty() ? "default" : queue;
}

}  // namespace

std::string GroupMetrics(const std::vector<ObjectRef>& queues,
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
  std::string text;
  for (const auto& [phase, count] : kPhases) {
    const std::string name = fmt::format("volcano_queue_pod_group_{}_count", phase);
    text += HeadOf(name, fmt::format("PodGroups of the queue that are {}.", phase), "gauge");
    for (const auto& [queue, counts] : counted) {
      text += fmt::format("{}{{queue_name=\"{}\"}} {}\n", name, queue, counts.*count);
    }
  }
  return text;
}

std::string JobMetrics(const std::vector<ObjectRef>& jobs) {
  std::string text;
  for (const auto& [word, phase] : {std::pair{"completed", objects::JobPhase::kCompleted},
                                    {"failed", objects::JobPhase::kFailed}}) {
    const std::string name = fmt::format("volcano_job_{}_phase_count", word);
    text += HeadOf(name, fmt::format("Jobs that have {}.", word), "counter");
    for (const ObjectRef& job : jobs) {
      if (TextAt(*job, {"status", "state", "phase"}) != ToString(phase)) continue;
      text += fmt::format("{}{{job_name=\"{}/{}\",queue_name=\"{}\"}} 1\n",
                          name,
                          TextAt(*job, {"metadata", "namespace"}),
                          TextAt(*job, {"metadata", "name"}),
                          QueueOf(*job));
    }
  }
  return text;
}

void CreationLatency::Observe(Duration from_job_to_pod) {
  const double millis =
      std::max(0.0, std::chrono::duration<double, std::milli>(from_job_to_pod).count());
  const std::lock_guard lock(mutex_);
  ++total_;
  sum_ += millis;
  double bound = kFirstBound;
  for (std::uint64_t& count : counts_) {
    if (millis <= bound) ++count;
    bound *= 2;
  }
}

std::string CreationLatency::Text() const {
  const std::lock_guard lock(mutex_);
  std::string text =
      HeadOf(kLatencyName, "From the creation of a Job to that of each of its pods.", "histogram");
  double bound = kFirstBound;
  for (const std::uint64_t count : counts_) {
    text += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", kLatencyName, bound, count);
    bound *= 2;
  }
  text += fmt::format(
      "{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2}\n{0}_count {1}\n", kLatencyName, total_, sum_);
  return text;
}

}  // namespace strata::controllers
