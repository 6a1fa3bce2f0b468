#include "controllers/volcano_metrics.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace strata::controllers {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

ObjectRef Shown(json object) {
  return std::make_shared<const json>(std::move(object));
}

TEST(VolcanoMetrics, PodGroupsAreCountedByQueueAndPhase) {
  const std::string text = obs::MetricsText(GroupMetrics(
      {Shown({{"metadata", {{"name", "default"}}}}), Shown({{"metadata", {{"name", "ml"}}}})},
      {Shown({{"status", {{"phase", "Running"}}}}),
       Shown({{"spec", {{"queue", "ml"}}}}),
       Shown({{"spec", {{"queue", "gone"}}}})}));
  EXPECT_THAT(text, HasSubstr("# TYPE volcano_queue_pod_group_running_count gauge\n"));
  EXPECT_THAT(text, HasSubstr("volcano_queue_pod_group_running_count{queue_name=\"default\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("volcano_queue_pod_group_pending_count{queue_name=\"ml\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("volcano_queue_pod_group_inqueue_count{queue_name=\"ml\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("gone")));
}

TEST(VolcanoMetrics, JobsAreNamedByHowTheyEnded) {
  const auto job = [](const char* name, const char* phase) {
    return Shown({{"metadata", {{"name", name}, {"namespace", "ml"}}},
                  {"spec", {{"queue", "q"}}},
                  {"status", {{"state", {{"phase", phase}}}}}});
  };
  const std::string text = obs::MetricsText(
      JobMetrics({job("a", "Completed"), job("b", "Failed"), job("c", "Running")}));
  EXPECT_THAT(
      text, HasSubstr("volcano_job_completed_phase_count{job_name=\"ml/a\",queue_name=\"q\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("volcano_job_failed_phase_count{job_name=\"ml/b\",queue_name=\"q\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("ml/c")));
}

TEST(VolcanoMetrics, BucketsCountAllThatIsShorter) {
  CreationLatency latency;
  latency.Observe(std::chrono::milliseconds(7));
  latency.Observe(std::chrono::hours(1));
  latency.Observe(-std::chrono::seconds(1));  // clocks differ
  const std::string text = obs::MetricsText({latency.Metrics()});
  EXPECT_THAT(text, HasSubstr("milliseconds_bucket{le=\"5\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("milliseconds_bucket{le=\"10\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("milliseconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("milliseconds_sum 3600007\n"));
}

}  // namespace
}  // namespace strata::controllers
