#include "sched/plugins/drf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/drf_tree.h"
#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

struct DrfCluster : TestCluster {
  DrfCluster() { AddNode("n0", {.cpu = 10, .memory = 100, .gpu = 8}); }

  QueueId AddBranch(const std::string& name,
                    const std::string& hierarchy,
                    const std::string& weights) {
    QueueSpec spec;
    spec.name = name;
    spec.hierarchy = hierarchy;
    spec.hierarchy_weights = weights;
    return state.workload().UpsertQueue(std::move(spec));
  }
};

TestPlugin OpenDrfTree(TestCluster& cluster) {
  const PluginConfig config{
      .name = "drf", .switches = {{"enableHierarchy", true}}, .arguments = {}};
  auto made = MakePlugin(config, cluster.state.resource_names());
  CHECK(made.has_value());
  made->plugin->Open(cluster.state, Time{});
  return {std::move(made->plugin), std::move(made->warnings)};
}

int Compare(const TestPlugin& plugin, const TestCluster& c, QueueId a, QueueId b) {
  return plugin.As<OrderPoint>().CompareQueues(c.state.workload().queue(a),
                                               c.state.workload().queue(b));
}

TEST(Drf, TheJobWithTheSmallerDominantShareComesFirst) {
  //   cpu-heavy has 4/10 of the cores; gpu-heavy 1/10 of the cores and 4/8 of the GPUs
  DrfCluster c;
  c.AddQueue("q");
  const JobId cpu_heavy = c.AddJob("ns/cpu-heavy", "q");
  const JobId gpu_heavy = c.AddJob("ns/gpu-heavy", "q");
  const JobId idle = c.AddJob("ns/idle", "q");
  c.AddTask(cpu_heavy, {.cpu = 4, .memory = 10}, "n0");
  c.AddTask(gpu_heavy, {.cpu = 1, .gpu = 4}, "n0");
  const TaskId next = c.AddTask(idle, {.cpu = 5});
  const TestPlugin plugin = OpenPlugin(c, "drf");
  const auto compare = [&](JobId a, JobId b) {
    return plugin.As<OrderPoint>().CompareJobs(c.state.workload().job(a),
                                               c.state.workload().job(b));
  };
  EXPECT_LT(compare(cpu_heavy, gpu_heavy), 0);
  EXPECT_LT(compare(idle, cpu_heavy), 0);
  EXPECT_EQ(compare(idle, idle), 0);
  c.state.journal().Allocate(next, *c.state.nodes().Find("n0"));  // 5/10 now, as gpu-heavy
  EXPECT_EQ(compare(idle, gpu_heavy), 0);
  EXPECT_GT(compare(idle, cpu_heavy), 0);
}

TEST(Drf, HasNoOrderOfQueuesWithoutHierarchy) {
  DrfCluster c;
  const QueueId a = c.AddQueue("a");
  const QueueId b = c.AddQueue("b");
  c.AddTask(c.AddJob("ns/a", "a"), {.cpu = 4}, "n0");
  EXPECT_EQ(Compare(OpenPlugin(c, "drf"), c, a, b), 0);
}

TEST(Drf, QueuesComeByTheWeightedSharesOfTheirBranches) {
  //   eng (weight 4) has 4 of 10 cores, sci (weight 1) has 2: 0.1 against 0.2
  DrfCluster c;
  const QueueId eng = c.AddBranch("eng", "root/eng", "1/4");
  const QueueId sci = c.AddBranch("sci", "root/sci", "1/1");
  for (const auto& [queue, cores] : {std::pair("eng", 4.0), std::pair("sci", 2.0)}) {
    const JobId job = c.AddJob(std::string("ns/") + queue, queue);
    c.AddTask(job, {.cpu = cores}, "n0");
    c.AddWaiting(job, 100);
  }
  EXPECT_LT(Compare(OpenDrfTree(c), c, eng, sci), 0);
}

TEST(Drf, ABranchThatCannotHaveMoreComesAfterOneThatWants) {
  //   full has all it asks for, though it is little; hungry has more, and wants still more
  DrfCluster c;
  const QueueId full = c.AddBranch("full", "root/full", "1/1");
  const QueueId hungry = c.AddBranch("hungry", "root/hungry", "1/1");
  c.AddTask(c.AddJob("ns/full", "full"), {.cpu = 1}, "n0");
  const JobId wants = c.AddJob("ns/hungry", "hungry");
  c.AddTask(wants, {.cpu = 6}, "n0");
  const TaskId more = c.AddTask(wants, {.cpu = 1});
  const TestPlugin plugin = OpenDrfTree(c);
  EXPECT_LT(Compare(plugin, c, hungry, full), 0);
  c.state.journal().Allocate(more, *c.state.nodes().Find("n0"));
  EXPECT_GT(Compare(plugin, c, hungry, full), 0);  // both have all now: by share
}

TEST(DrfTree, ABranchCountsItsChildrenByTheLeastOfThem) {
  //   total (10, 100); a has two jobs that want more, of shares 0.4 and 0.1: scaled to 0.1 each
  DrfTree tree({10, 100});
  const DrfPath path{.names = {"a"}, .weights = {1}};
  tree.Add(path, {.allocated = {4, 0}, .request = {9, 0}});
  tree.Add(path, {.allocated = {0, 10}, .request = {0, 90}});
  tree.Finish();
  EXPECT_NEAR(tree.ShareOf(path), 0.1, 1e-6);
}

TEST(DrfTree, ASaturatedChildCountsAsItIs) {
  //   the first job has all it asks for: 0.4 stays; the other is the least itself
  DrfTree tree({10, 100});
  const DrfPath path{.names = {"a"}, .weights = {1}};
  tree.Add(path, {.allocated = {4, 0}, .request = {4, 0}});
  tree.Add(path, {.allocated = {1, 0}, .request = {9, 0}});
  tree.Finish();
  EXPECT_NEAR(tree.ShareOf(path), 0.5, 1e-6);
}

TEST(DrfTree, SharesOfThirdsAreExactToAMillionth) {
  //   dept ─ x (1 of 3 cores), y (a half): x is scaled to a half, so dept has 1 of 3
  DrfTree tree({3});
  const auto branch = [](const char* name) {
    return DrfPath{.names = {"dept", name}, .weights = {2, 1}};
  };
  tree.Add(branch("x"), {.allocated = {1}, .request = {9}});
  tree.Add(branch("y"), {.allocated = {0.5}, .request = {9}});
  tree.Finish();
  EXPECT_NEAR(tree.ShareOf(branch("x")), 1.0 / 3, 1e-6);
  EXPECT_NEAR(tree.ShareOf(branch("y")), 1.0 / 6, 1e-6);
  EXPECT_NEAR(tree.ShareOf({.names = {"dept"}, .weights = {2}}), 1.0 / 3, 1e-6);
}

TEST(DrfPathOf, IsTheAnnotationsElseTheParents) {
  DrfCluster c;
  const QueueId annotated = c.AddBranch("annotated", "root/x/y", "1/2/0.5");
  QueueSpec parent;
  parent.name = "p";
  parent.parent = "root";
  parent.weight = 3;
  c.state.workload().UpsertQueue(std::move(parent));
  QueueSpec child;
  child.name = "c";
  child.parent = "p";
  child.weight = 7;
  const QueueId below = c.state.workload().UpsertQueue(std::move(child));
  QueueSpec self;
  self.name = "self";
  self.parent = "self";
  const QueueId loop = c.state.workload().UpsertQueue(std::move(self));
  const auto path = [&](QueueId id) {
    return DrfPathOf(c.state, c.state.workload().queue(id).spec);
  };
  EXPECT_THAT(path(annotated).names, ElementsAre("x", "y"));
  EXPECT_THAT(path(annotated).weights, ElementsAre(2, 1));
  EXPECT_THAT(path(below).names, ElementsAre("p", "c"));
  EXPECT_THAT(path(below).weights, ElementsAre(3, 7));
  EXPECT_THAT(path(loop).names, ElementsAre("self"));
}

}  // namespace
}  // namespace strata
