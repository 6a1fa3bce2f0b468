#include "sched/class_view_cache.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"

namespace strata {
namespace {

using testing::ClusterBuilder;

// A job of one pod, whose class is its own.
ClassId AddClass(ClusterBuilder& cluster, const std::string& job) {
  cluster.Job(job, {.tasks = 1, .task = {.labels = {{"job", job}}}});
  return cluster.state.workload().task(cluster.FindTask(job + "-w-0")).class_id;
}

TEST(ClassViewCache, KeepsTheViewOfAClass) {
  ClusterBuilder cluster;
  cluster.Nodes(1);
  const NodePoints points;
  ClassViewCache views(cluster.state, points);
  static_cast<void>(views.Trim());
  const ClassId a = AddClass(cluster, "a");
  ClassView& view = views.Of(a);
  EXPECT_NE(&view, &views.Of(AddClass(cluster, "b")));
  EXPECT_FALSE(views.Trim());
  EXPECT_EQ(&view, &views.Of(a));
}

TEST(ClassViewCache, DropsAllViewsWhenClassesAreRenumbered) {
  ClusterBuilder cluster;
  cluster.Nodes(1);
  const NodePoints points;
  ClassViewCache views(cluster.state, points);
  static_cast<void>(views.Trim());
  static_cast<void>(views.Of(AddClass(cluster, "gone")));
  const ClassId before = AddClass(cluster, "stays");
  cluster.state.workload().RemoveJob(cluster.FindJob("gone"));
  cluster.state.workload().ForgetIdleClasses(0);
  EXPECT_TRUE(views.Trim());
  EXPECT_FALSE(views.Trim());
  const ClassId after = cluster.state.workload().task(cluster.FindTask("stays-w-0")).class_id;
  EXPECT_NE(after, before);
  EXPECT_EQ(views.Of(after).spec().identity.labels.at("job"), "stays");
}

}  // namespace
}  // namespace strata
