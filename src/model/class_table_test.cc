#include "model/class_table.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"

namespace strata {
namespace {

using testing::ClusterBuilder;

TEST(ClassTable, TasksThatAskForTheSameShareAClass) {
  ClusterBuilder cluster;
  cluster.Job("a", {.tasks = 2}).Job("b", {.tasks = 1});
  cluster.Task("b", {.selector = {{"zone", "1"}}});
  const auto class_of = [&](const char* task) {
    return cluster.state.workload().task(cluster.FindTask(task)).class_id;
  };
  EXPECT_EQ(class_of("a-w-0"), class_of("a-w-1"));
  EXPECT_EQ(class_of("a-w-0"), class_of("b-w-0"));
  EXPECT_NE(class_of("b-w-0"), class_of("b-w-1"));
  EXPECT_EQ(cluster.state.classes().count(), 2U);
}

TEST(ClassTable, ForgetsClassesThatNoTaskHasOnceTheyAreMany) {
  ClusterBuilder cluster;
  PodRules alone;
  alone.anti_affinity = {testing::Pods("app", "x", "host")};
  cluster.Job("goes", {.tasks = 1, .task = {.cpu = 2, .rules = alone}});
  cluster.Job("stays", {.tasks = 2, .task = {.cpu = 3, .rules = alone}});
  const auto stays = [&] {
    return cluster.state.workload().task(cluster.FindTask("stays-w-1")).class_id;
  };
  const std::uint64_t before = cluster.state.classes().epoch();
  cluster.state.workload().RemoveJob(cluster.FindJob("goes"));
  cluster.state.workload().ForgetIdleClasses(1);
  EXPECT_EQ(cluster.state.classes().epoch(), before);
  cluster.state.workload().ForgetIdleClasses(0);
  EXPECT_NE(cluster.state.classes().epoch(), before);
  EXPECT_EQ(cluster.state.classes().count(), 1U);
  EXPECT_EQ(cluster.state.classes().spec(stays()).request.Get(kCpu), testing::Cores(3));
  EXPECT_THAT(cluster.state.classes().with_rules(), ::testing::ElementsAre(stays()));
  cluster.Task("stays", {.cpu = 3, .rules = alone});  // finds the class again
  EXPECT_EQ(cluster.state.workload().task(cluster.FindTask("stays-w-2")).class_id, stays());
}

}  // namespace
}  // namespace strata
