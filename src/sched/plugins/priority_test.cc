#include "sched/plugins/priority.h"

#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

TEST(Priority, HigherJobsAndTasksComeFirst) {
  TestCluster cluster;
  const TestPlugin plugin = OpenPlugin(cluster, "priority");
  const auto& order = plugin.As<OrderPoint>();
  Job high;
  high.spec.priority = 10;
  Job low;
  low.spec.priority = -1;
  EXPECT_LT(order.CompareJobs(high, low), 0);
  EXPECT_GT(order.CompareJobs(low, high), 0);
  EXPECT_EQ(order.CompareJobs(low, low), 0);
  Task urgent;
  urgent.priority = 2;
  EXPECT_LT(order.CompareTasks(urgent, Task{}), 0);
  EXPECT_EQ(order.CompareQueues(Queue{}, Queue{}), 0);
}

TEST(Priority, ASubJobIsAsUrgentAsItsMostUrgentPendingTask) {
  //   group a: pending 3, running 9     group b: pending 5     group c: pending -7
  TestCluster cluster;
  cluster.AddNode("n0", {.cpu = 8, .memory = 8});
  JobSpec spec;
  spec.name = "ns/job";
  spec.sub_groups.resize(1);
  spec.sub_groups[0].name = "group";
  const JobId job = cluster.state.workload().UpsertJob(std::move(spec));
  const auto add = [&](const char* group, std::int32_t priority, const char* node = "") {
    TaskSpec task;
    task.priority = priority;
    task.sub_group = SubGroupKey{.policy = 0, .values = {group}};
    cluster.AddTask(job, std::move(task), node);
  };
  add("a", 3);
  add("a", 9, "n0");
  add("b", 5);
  add("c", -7);
  const TestPlugin plugin = OpenPlugin(cluster, "priority");
  const auto& order = plugin.As<OrderPoint>();
  const Job& made = cluster.state.workload().job(job);
  EXPECT_GT(order.CompareSubJobs(made, made.sub_jobs[1], made.sub_jobs[2]), 0);
  EXPECT_EQ(order.CompareSubJobs(made, made.sub_jobs[3], made.sub_jobs[0]), 0);  // both 0
}

}  // namespace
}  // namespace strata
