#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/trace.h"

namespace strata::replay {
namespace {

using ::testing::HasSubstr;

Result<Trace> ReadPast(const std::string& text) {
  const std::array<TraceText, 1> files = {TraceText{.path = "past.json", .text = text}};
  return ReadTrace(files, {});
}

std::string ListOf(const std::string& items) {
  return R"({"apiVersion":"v1","kind":"List","metadata":{},"items":[)" + items + "]}";
}

// 2 workers of 8 GPUs and a master of none.
std::string VolcanoJobText(const std::string& name,
                           const std::string& phase,
                           const std::string& conditions) {
  return R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job",
    "metadata":{"namespace":"ml","name":")" +
         name + R"(","creationTimestamp":"2026-11-01T10:00:00Z"},
    "spec":{"queue":"research","networkTopology":{"mode":"hard","highestTierAllowed":1},"tasks":[
      {"name":"master","replicas":1,"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}},
      {"name":"worker","replicas":2,"template":{"spec":{"containers":[
        {"resources":{"limits":{"cpu":"500m","memory":"1Gi","nvidia.com/gpu":"8"}}}]}}}]},
    "status":{"state":{"phase":")" +
         phase + R"("},"conditions":[)" + conditions + "]}}";
}

constexpr const char* kRan =
    R"({"status":"Pending","lastTransitionTime":"2026-11-01T10:00:01Z"},
       {"status":"Running","lastTransitionTime":"2026-11-01T10:05:00Z"},
       {"status":"Completed","lastTransitionTime":"2026-11-01T11:05:00Z"})";

TEST(PastOfACluster, IsItsFinishedJobs) {
  const auto trace = ReadPast(ListOf(
      VolcanoJobText("train", "Completed", kRan) + "," +
      VolcanoJobText("runs",
                     "Running",
                     R"({"status":"Running","lastTransitionTime":"2026-11-01T10:05:00Z"})")));
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->format, "kubernetes");
  EXPECT_EQ(trace->left_out, 1U);
  ASSERT_EQ(trace->jobs.size(), 1U);
  const TraceJob& job = trace->jobs[0];
  EXPECT_EQ(job.name, "ml/train");
  EXPECT_EQ(job.duration, 3'600'000);
  EXPECT_EQ(job.pods, 2);
  EXPECT_EQ(job.gpus, 8);
  EXPECT_EQ(job.last_gpus, 8);
  EXPECT_EQ(job.cpu_milli, 500);
  EXPECT_EQ(job.memory, std::int64_t{1} << 30U);
  EXPECT_EQ(job.queue, "research");
  EXPECT_EQ(job.wish, Wish::kHard);
  EXPECT_EQ(job.tier, "1");
  EXPECT_EQ(job.status, "Completed");
}

TEST(PastOfACluster, TakesFromEventsWhenAJobWasPlaced) {
  const std::string event =
      R"({"apiVersion":"v1","kind":"Event","reason":"Scheduled","firstTimestamp":"2026-11-01T10:35:00Z",
          "involvedObject":{"kind":"Pod","namespace":"ml","name":"train-worker-1"}})";
  const auto trace = ReadPast(
      ListOf(event + "," +
             VolcanoJobText("train",
                            "Failed",
                            R"({"status":"Failed","lastTransitionTime":"2026-11-01T11:05:00Z"})")));
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->jobs[0].duration, 30 * 60'000);
}

TEST(PastOfACluster, HasJobsOfKubernetesAndPodsOfNobody) {
  const auto trace = ReadPast(ListOf(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"ml","name":"eval","creationTimestamp":"2026-11-01T10:00:00Z"},
          "spec":{"parallelism":4,"template":{"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":1}}}]}}},
          "status":{"startTime":"2026-11-01T10:00:10Z","completionTime":"2026-11-01T10:01:10Z"}},
         {"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ml","name":"eval-x","ownerReferences":[{"kind":"Job","name":"eval"}]},
          "status":{"phase":"Succeeded"}},
         {"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ml","name":"alone","creationTimestamp":"2026-11-01T10:00:05Z"},
          "spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"2"}}}]},
          "status":{"phase":"Succeeded","startTime":"2026-11-01T10:00:06Z",
            "containerStatuses":[{"state":{"terminated":{"finishedAt":"2026-11-01T10:00:16Z"}}}]}})"));
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 2U);
  EXPECT_EQ(trace->jobs[0].name, "job/ml/eval");
  EXPECT_EQ(trace->jobs[0].pods, 4);
  EXPECT_EQ(trace->jobs[0].duration, 60'000);
  EXPECT_EQ(trace->jobs[1].name, "pod/ml/alone");
  EXPECT_EQ(trace->jobs[1].submit, 5000);
  EXPECT_EQ(trace->jobs[1].gpus, 2);
  EXPECT_EQ(trace->jobs[1].duration, 10'000);
}

std::string Series(const std::string& name,
                   const std::string& pod,
                   const std::string& labels,
                   const std::string& value) {
  return R"({"metric":{"__name__":")" + name + R"(","namespace":"ml","pod":")" + pod + "\"" +
         labels + R"(},"value":[1793500000,")" + value + "\"]}";
}

TEST(PastOfACluster, IsReadFromPrometheus) {
  std::string series;
  for (const std::string pod : {"train-0", "train-1"}) {
    series +=
        Series("kube_pod_created", pod, "", "1793527200") + "," +
        Series("kube_pod_start_time", pod, "", pod == "train-0" ? "1793527210" : "1793527220") +
        "," + Series("kube_pod_completion_time", pod, "", "1.793527320e+09") + "," +
        Series("kube_pod_owner", pod, R"(,"owner_kind":"Job","owner_name":"train")", "1") + "," +
        Series("kube_pod_container_resource_requests",
               pod,
               R"(,"container":"c","resource":"nvidia_com_gpu")",
               "8") +
        ",";
  }
  series += Series("kube_pod_created", "runs", "", "1793527200") + "," +
            Series("kube_pod_start_time", "runs", "", "1793527200");
  const auto trace =
      ReadPast(R"({"status":"success","data":{"resultType":"vector","result":[)" + series + "]}}");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->format, "prometheus");
  EXPECT_EQ(trace->left_out, 1U);
  ASSERT_EQ(trace->jobs.size(), 1U);
  EXPECT_EQ(trace->jobs[0].name, "ml/train");
  EXPECT_EQ(trace->jobs[0].pods, 2);
  EXPECT_EQ(trace->jobs[0].gpus, 8);
  EXPECT_EQ(trace->jobs[0].duration, 100'000);  // once both had started
}

TEST(PastOfACluster, SaysWhatItWants) {
  EXPECT_THAT(ReadPast(R"({"apiVersion":"v1","items":3})").error().message,
              HasSubstr("past.json: want a List of objects"));
  EXPECT_THAT(ReadPast(R"({"resultType":"x"})").error().message,
              HasSubstr("past.json: want data.result"));
  EXPECT_EQ(ReadPast(ListOf("")).error().message, "past.json: no jobs");
}

}  // namespace
}  // namespace strata::replay
