#include "live/status_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::live {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

QueueSpec QueueOf(const std::string& name, const std::string& parent) {
  QueueSpec spec;
  spec.name = name;
  spec.parent = parent;
  return spec;
}

TEST(AllocatedOfQueues, CountsWhatTheQueuesBelowHold) {
  //   root <- all <- team (2 CPUs), and two queues on a cycle
  ClusterState state;
  state.UpsertQueue(QueueOf("root", ""));
  state.UpsertQueue(QueueOf("all", "root"));
  state.UpsertQueue(QueueOf("team", "all"));
  state.UpsertQueue(QueueOf("x", "y"));
  state.UpsertQueue(QueueOf("y", "x"));
  NodeSpec node;
  node.name = "n";
  node.allocatable.Set(kCpu, 8000);
  ASSERT_TRUE(state.UpsertNode(node));
  JobSpec job;
  job.name = "ns/g";
  job.queue = "team";
  TaskSpec task;
  task.name = "ns/p";
  task.job = state.UpsertJob(job);
  task.status = TaskStatus::kRunning;
  task.node_name = "n";
  task.constraints.request.Set(kCpu, 1500);
  ASSERT_TRUE(state.AddTask(task));
  const auto allocated = AllocatedOfQueues(state);
  for (const char* name : {"root", "all", "team"}) {
    EXPECT_THAT(allocated.at(name), ElementsAre(Pair("cpu", "1500m"))) << name;
  }
  EXPECT_THAT(allocated.at("x"), IsEmpty());
}

}  // namespace
}  // namespace strata::live
