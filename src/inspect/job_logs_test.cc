#include "inspect/job_logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::inspect {
namespace {

JobReport TwoTasks() {
  JobReport job;
  job.key = {"ml", "train"};
  job.phase = "Running";
  for (const char* name : {"train-w-10", "train-w-9"}) {
    job.pods.push_back({.name = name, .task = "w", .phase = "Running", .node = "n0", .leaf = {}});
  }
  job.pods.push_back(
      {.name = "train-w-11", .task = "w", .phase = "Pending", .node = "", .leaf = {}});
  job.pods.push_back(
      {.name = "train-ps-0", .task = "ps", .phase = "Running", .node = "n1", .leaf = {}});
  return job;
}

std::vector<std::string> NamesOf(const std::vector<JobReport::Pod>& pods) {
  std::vector<std::string> names;
  for (const JobReport::Pod& pod : pods) names.push_back(pod.name);
  return names;
}

TEST(PodsWithLogs, AreThoseWithANodeInNaturalOrder) {
  EXPECT_THAT(NamesOf(PodsWithLogs(TwoTasks(), {}).value()),
              testing::ElementsAre("train-ps-0", "train-w-9", "train-w-10"));
  EXPECT_THAT(
      NamesOf(PodsWithLogs(TwoTasks(), {.task = "ps", .container = {}, .tail = {}}).value()),
      testing::ElementsAre("train-ps-0"));
}

TEST(PodsWithLogs, AnUnknownTaskNamesThoseThereAre) {
  const auto pods = PodsWithLogs(TwoTasks(), {.task = "worker", .container = {}, .tail = {}});
  ASSERT_FALSE(pods);
  EXPECT_EQ(pods.error().message, "ml/train has no task \"worker\" (want ps, w)");
}

TEST(PodsWithLogs, AJobThatWaitsHasNone) {
  JobReport job = TwoTasks();
  job.phase = "Pending";
  for (JobReport::Pod& pod : job.pods) pod.node.clear();
  const auto pods = PodsWithLogs(job, {});
  ASSERT_FALSE(pods);
  EXPECT_EQ(pods.error().message,
            "ml/train is Pending and none of its 4 pods has a node, so there are no logs; strata "
            "explain ml/train");
}

TEST(PrefixLines, EndsTheLastLine) {
  EXPECT_EQ(PrefixLines("[p] ", "a\n\nb"), "[p] a\n[p] \n[p] b\n");
  EXPECT_EQ(PrefixLines("[p] ", ""), "");
}

}  // namespace
}  // namespace strata::inspect
