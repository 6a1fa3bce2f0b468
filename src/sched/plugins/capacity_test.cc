#include "sched/plugins/capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

struct Terms {
  double deserved = 0;  // cores, as all of these
  double guarantee = 0;
  double capability = 0;
  std::int32_t priority = 0;
};

struct CapacityCluster : TestCluster {
  CapacityCluster() { AddNode("n0", {.cpu = 10}); }

  QueueId Add(const std::string& name, const std::string& parent, const Terms& terms = {}) {
    QueueSpec spec;
    spec.name = name;
    spec.uid = name;
    spec.parent = parent;
    spec.priority = terms.priority;
    spec.guarantee = Amounts({.cpu = terms.guarantee});
    if (terms.deserved > 0) spec.deserved[kCpu] = Amounts({.cpu = terms.deserved}).Get(kCpu);
    if (terms.capability > 0) spec.capability[kCpu] = Amounts({.cpu = terms.capability}).Get(kCpu);
    return state.workload().UpsertQueue(std::move(spec));
  }
  void Close(const std::string& name) {
    QueueSpec spec = state.workload().queue(*state.workload().FindQueue(name)).spec;
    spec.open = false;
    state.workload().UpsertQueue(std::move(spec));
  }
  JobId AddJobWith(const std::string& name,
                   const std::string& queue,
                   double cores,
                   JobPhase phase = JobPhase::kPending) {
    JobSpec spec;
    spec.name = name;
    spec.queue = queue;
    spec.min_available = 1;
    spec.min_resources = Amounts({.cpu = cores});
    spec.phase = phase;
    return state.workload().UpsertJob(std::move(spec));
  }
  [[nodiscard]] Ballot Ask(const TestPlugin& plugin, JobId job) const {
    return plugin.As<JobGatePoint>().Enqueueable(state.workload().job(job));
  }
  [[nodiscard]] std::optional<Refusal> More(const TestPlugin& plugin,
                                            QueueId queue,
                                            double cores) const {
    return plugin.As<QuotaPoint>().Exhausted(
        queue, Amounts({.cpu = cores}, 1), QuotaPoint::Limit::kShare);
  }
  [[nodiscard]] int Compare(const TestPlugin& plugin, QueueId a, QueueId b) const {
    return plugin.As<OrderPoint>().CompareQueues(state.workload().queue(a),
                                                 state.workload().queue(b));
  }
};

TestPlugin OpenTree(TestCluster& cluster) {
  const PluginConfig config{
      .name = "capacity", .switches = {{"enableHierarchy", true}}, .arguments = {}};
  auto made = MakePlugin(config, cluster.state.resource_names());
  CHECK(made.has_value());
  made->plugin->Open(cluster.state, Time{});
  return {std::move(made->plugin), std::move(made->warnings)};
}

TEST(Capacity, QueuesComeByPriorityThenByShareAndThoseThatDeserveNothingLast) {
  //   a has 2 of 4 it deserves, b 3 of 4, d 4 of 4; e deserves nothing, c is more important
  CapacityCluster c;
  const QueueId a = c.Add("a", "", {.deserved = 4});
  const QueueId b = c.Add("b", "", {.deserved = 4});
  const QueueId important = c.Add("c", "", {.priority = 5});
  const QueueId d = c.Add("d", "", {.deserved = 4});
  const QueueId e = c.Add("e", "");
  c.AddTask(c.AddJob("ns/a", "a"), {.cpu = 2}, "n0");
  c.AddTask(c.AddJob("ns/b", "b"), {.cpu = 3}, "n0");
  c.AddTask(c.AddJob("ns/d", "d"), {.cpu = 4}, "n0");
  const TestPlugin plugin = OpenPlugin(c, "capacity");
  EXPECT_LT(c.Compare(plugin, important, a), 0);
  EXPECT_LT(c.Compare(plugin, a, b), 0);
  EXPECT_GT(c.Compare(plugin, e, b), 0);
  EXPECT_LT(c.Compare(plugin, d, e), 0);  // both shares are 1
  EXPECT_EQ(c.Compare(plugin, e, e), 0);
}

TEST(Capacity, AQueueMayBorrowBeyondWhatItDeservesUpToItsCapability) {
  CapacityCluster c;
  const QueueId a = c.Add("a", "", {.deserved = 2, .capability = 6});
  c.AddTask(c.AddJob("ns/a", "a"), {.cpu = 4}, "n0");
  const TestPlugin plugin = OpenPlugin(c, "capacity");
  EXPECT_FALSE(plugin.As<QuotaPoint>().Overused(a));
  EXPECT_EQ(c.More(plugin, a, 2), std::nullopt);
  EXPECT_EQ(c.More(plugin, a, 3),
            (Refusal{"QueueQuotaExceeded", "queue a: 3 cpu requested, 4 in use, its limit is 6"}));
}

TEST(Capacity, JobsEnterUntilTheirMinimumsFillTheQueue) {
  CapacityCluster c;
  c.Add("a", "");
  const JobId seven = c.AddJobWith("ns/seven", "a", 7);
  const JobId four = c.AddJobWith("ns/four", "a", 4);
  const TestPlugin plugin = OpenPlugin(c, "capacity");
  EXPECT_EQ(c.Ask(plugin, four).vote, Vote::kPermit);
  plugin.As<JobGatePoint>().OnEnqueued(c.state.workload().job(seven));
  EXPECT_EQ(c.Ask(plugin, four).vote, Vote::kReject);
  EXPECT_EQ(c.Ask(plugin, four).refusal,
            (Refusal{"ClusterFull",
                     "queue a: 4 cpu requested, 7 in use or promised, the cluster has 10"}));
}

TEST(Capacity, AdmissionIgnoresWhatElasticJobsHoldBeyondTheirMinimum) {
  //   ns/in holds 6 cores, its minimum is 2
  CapacityCluster c;
  c.Add("a", "");
  c.AddTask(c.AddJobWith("ns/in", "a", 2, JobPhase::kRunning), {.cpu = 6}, "n0");
  const JobId eight = c.AddJobWith("ns/eight", "a", 8);
  const JobId nine = c.AddJobWith("ns/nine", "a", 9);
  const TestPlugin plugin = OpenPlugin(c, "capacity");
  EXPECT_EQ(c.Ask(plugin, eight).vote, Vote::kPermit);
  EXPECT_EQ(c.Ask(plugin, nine).vote, Vote::kReject);
}

TEST(Capacity, InATreeEveryAncestorMustHaveRoom) {
  //   root ─ a (capability 6) ─ a1 (has 3), a2 (has 2)
  CapacityCluster c;
  c.Add("a", "root", {.capability = 6});
  c.Add("a1", "a");
  const QueueId a2 = c.Add("a2", "a");
  c.AddTask(c.AddJob("ns/a1", "a1"), {.cpu = 3}, "n0");
  c.AddTask(c.AddJob("ns/a2", "a2"), {.cpu = 2}, "n0");
  const JobId two = c.AddJobWith("ns/two", "a2", 2);
  const TestPlugin plugin = OpenTree(c);
  const Refusal full{"QueueQuotaExceeded", "queue a: 2 cpu requested, 5 in use, its limit is 6"};
  EXPECT_EQ(c.More(plugin, a2, 1), std::nullopt);
  EXPECT_EQ(c.More(plugin, a2, 2), full);
  // Running jobs hold all of it beyond a minimum of nothing, so the door is open.
  EXPECT_EQ(c.Ask(plugin, two).vote, Vote::kPermit);
}

TEST(Capacity, InATreeAGuaranteeIsKeptFreeFromAllOthersTogether) {
  //   10 cores; a is guaranteed 4 and has 1; b and c have 3 each: 7 + 3 kept free = 10
  CapacityCluster c;
  const QueueId a = c.Add("a", "root", {.guarantee = 4});
  const QueueId b = c.Add("b", "root");
  c.Add("c", "root");
  for (const char* name : {"a", "b", "c"}) {
    const JobId job = c.AddJob(std::string("ns/") + name, name);
    c.AddTask(job, {.cpu = name[0] == 'a' ? 1.0 : 3.0}, "n0");
  }
  const TestPlugin plugin = OpenTree(c);
  EXPECT_EQ(c.More(plugin, b, 1),
            (Refusal{"GuaranteedToOthers",
                     "queue root: 1 cpu requested, 7 in use, 3 kept free for guarantees of other "
                     "queues, the cluster has 10"}));
  EXPECT_EQ(c.More(plugin, a, 3), std::nullopt);
}

TEST(Capacity, AJobLargerThanTheClusterEntersATreeWithoutLimits) {
  CapacityCluster c;
  c.Add("a", "root");
  const JobId large = c.AddJobWith("ns/large", "a", 100);
  EXPECT_EQ(c.Ask(OpenTree(c), large).vote, Vote::kPermit);
  EXPECT_EQ(c.Ask(OpenPlugin(c, "capacity"), large).vote, Vote::kReject);
}

TEST(Capacity, RefusesOnlyJobsOfInvalidQueues) {
  CapacityCluster c;
  c.Add("a", "root");
  c.Add("a1", "a");
  c.Add("lost", "nowhere");
  const JobId in_parent = c.AddJobWith("ns/in-parent", "a", 1);
  const JobId in_lost = c.AddJobWith("ns/in-lost", "lost", 1);
  const JobId fine = c.AddJobWith("ns/fine", "a1", 1);
  const TestPlugin plugin = OpenTree(c);
  EXPECT_EQ(c.Ask(plugin, fine).vote, Vote::kPermit);
  EXPECT_EQ(c.Ask(plugin, in_parent).refusal,
            (Refusal{"QueueNotLeaf", "queue a has child queues (a1), so it takes no jobs"}));
  EXPECT_EQ(c.Ask(plugin, in_lost).refusal,
            (Refusal{"QueueParentMissing", "the parent of queue lost does not exist"}));
  EXPECT_EQ(c.Ask(OpenPlugin(c, "capacity"), in_lost).vote, Vote::kPermit);  // parents do not count
}

TEST(Capacity, AClosedQueueOrAncestorAdmitsAndGetsNothing) {
  CapacityCluster c;
  c.Add("a", "root");
  const QueueId a1 = c.Add("a1", "a");
  const JobId job = c.AddJobWith("ns/j", "a1", 1);
  c.Close("a");
  const TestPlugin tree = OpenTree(c);
  const Refusal closed{"QueueClosed", "queue a is not open, so queue a1 is not"};
  EXPECT_EQ(c.More(tree, a1, 1), closed);
  EXPECT_EQ(c.Ask(tree, job).refusal, closed);
  EXPECT_EQ(c.Ask(OpenPlugin(c, "capacity"), job).vote, Vote::kPermit);
  c.Close("a1");
  EXPECT_EQ(c.Ask(OpenPlugin(c, "capacity"), job).refusal,
            (Refusal{"QueueClosed", "queue a1 is not open"}));
}

TEST(Capacity, LeavesAreComparedByTheAncestorsBelowTheirCommonOne) {
  //   root ─ a (deserves 5, has 4) ─ a1 (deserves 4, has 0), a2 (deserves 5, has 4)
  //        └ b (deserves 5, has 2) ─ b1 (deserves 2, has 2)
  CapacityCluster c;
  const QueueId a = c.Add("a", "root", {.deserved = 5});
  const QueueId a1 = c.Add("a1", "a", {.deserved = 4});
  const QueueId a2 = c.Add("a2", "a", {.deserved = 5});
  c.Add("b", "root", {.deserved = 5});
  const QueueId b1 = c.Add("b1", "b", {.deserved = 2});
  const QueueId lost = c.Add("lost", "nowhere", {.deserved = 9});
  c.AddTask(c.AddJob("ns/a2", "a2"), {.cpu = 4}, "n0");
  c.AddTask(c.AddJob("ns/b1", "b1"), {.cpu = 2}, "n0");
  const TestPlugin plugin = OpenTree(c);
  EXPECT_LT(c.Compare(plugin, b1, a1), 0);  // 2/5 of b against 4/5 of a
  EXPECT_LT(c.Compare(plugin, a1, a2), 0);
  EXPECT_LT(c.Compare(plugin, a1, a), 0);  // a leaf before a parent
  EXPECT_LT(c.Compare(plugin, a2, lost), 0);
  EXPECT_GT(c.Compare(plugin, lost, b1), 0);
}

TEST(Capacity, QuotasOfDeviceClassesAreAWarning) {
  CapacityCluster c;
  EXPECT_THAT(
      OpenPlugin(c, "capacity", {{"capacity.DynamicResourceAllocationEnable", true}}).warnings,
      ElementsAre("capacity: capacity.DynamicResourceAllocationEnable: quotas of device "
                  "classes are not built, ignored"));
}

TEST(Capacity, AGuaranteeDeepInTheTreeIsNotUsedUpFromOutsideOrFromBeside) {
  //   root of 10: a, and b with sure (4 guaranteed, has nothing) and rest (has 4)
  CapacityCluster c;
  const QueueId a = c.Add("a", "root");
  c.Add("b", "root");
  const QueueId sure = c.Add("sure", "b", {.guarantee = 4});
  const QueueId rest = c.Add("rest", "b");
  c.AddTask(c.AddJobWith("ns/r", "rest", 4, JobPhase::kRunning), {.cpu = 4}, "n0");
  const TestPlugin plugin = OpenTree(c);
  EXPECT_EQ(c.More(plugin, a, 2), std::nullopt);
  ASSERT_TRUE(c.More(plugin, a, 3).has_value()) << "what b has is not what sure has";
  EXPECT_EQ(c.More(plugin, a, 3)->message,
            "queue root: 3 cpu requested, 4 in use, 4 kept free for guarantees of other queues, "
            "the cluster has 10");
  EXPECT_FALSE(c.More(plugin, rest, 2).has_value());
  EXPECT_TRUE(c.More(plugin, rest, 3).has_value());
  EXPECT_FALSE(c.More(plugin, sure, 4).has_value());
}

TEST(Capacity, AParentsGuaranteeIsNotForAChildWhenAnotherChildIsOwedAllOfIt) {
  //   root of 10: a has 6, b is guaranteed the 4 of sure, rest has none of its own
  CapacityCluster c;
  c.Add("a", "root");
  c.Add("b", "root");
  const QueueId sure = c.Add("sure", "b", {.guarantee = 4});
  const QueueId rest = c.Add("rest", "b");
  c.AddTask(c.AddJobWith("ns/a", "a", 6, JobPhase::kRunning), {.cpu = 6}, "n0");
  const TestPlugin plugin = OpenTree(c);
  EXPECT_TRUE(c.More(plugin, rest, 1).has_value());
  EXPECT_FALSE(c.More(plugin, sure, 4).has_value());
}

}  // namespace
}  // namespace strata
