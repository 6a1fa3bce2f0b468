// Every job that waits has a reason a person can act on.
#include "sched/verdict.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::BestEffort;
using testing::ClusterBuilder;
using testing::Decisions;
using testing::Hard;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RunCycle;
using testing::TaskArgs;

TEST(Verdict, OfAJobThatStartedIsNone) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 1});
  EXPECT_THAT(RunCycle(cluster.state).verdicts, IsEmpty());
}

TEST(Verdict, CountsWhatFitsAndWhatIsShort) {
  ClusterBuilder cluster;
  cluster.Nodes(2).Job("j", {.tasks = 3, .task = {.cpu = 4}});
  for (const char* node : {"node0", "node1"}) {
    cluster.Task("", {.status = TaskStatus::kRunning, .node = node}, std::string("on-") + node);
  }
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "NotEnoughResources");
  EXPECT_EQ(decisions.Message("j"),
            "3/3 tasks in gang unschedulable: 2 of 3 pods fit on the 2 nodes of the cluster: 2 "
            "Insufficient cpu");
}

TEST(Verdict, NamesOnlySomeOfTheResourcesThatNoNodeHas) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 0});
  TaskSpec spec;
  spec.name = "j-w-0";
  spec.job = cluster.FindJob("j");
  spec.constraints = cluster.ClassOf({});
  for (int i = 0; i < 20'000; ++i) {
    const auto id = cluster.state.resource_names().InternAsked("invented-" + std::to_string(i));
    spec.constraints.request.Set(id, 1000);
  }
  cluster.state.workload().AddTask(spec);
  const std::string message = testing::RunCycle(cluster.state).Message("j");
  EXPECT_THAT(message, ::testing::HasSubstr("invented-0"));
  EXPECT_LT(message.size(), 2000U);
}

TEST(Verdict, IgnoresRulesOfDeletedPods) {
  const auto fill = [](ClusterBuilder& cluster) {
    cluster.Node("node0", {.cpu = 4, .labels = {{"host", "node0"}}}).Node("node1", {.cpu = 4});
    cluster.Node("node2", {.cpu = 2, .labels = {{"host", "node2"}}});
    cluster.Job("j", {.tasks = 0, .min_available = 4});
    cluster.Task("j", {.cpu = 2, .selector = {{"host", "node0"}}});
    for (int i = 0; i < 2; ++i) cluster.Task("j", {.cpu = 3, .labels = {{"app", "a"}}});
    cluster.Task("j", {.cpu = 2});
  };
  ClusterBuilder fresh;
  fill(fresh);
  ClusterBuilder kept;
  fill(kept);
  TaskArgs loner = BestEffort();
  loner.rules.anti_affinity = {testing::Pods("app", "a", "host")};
  loner.status = TaskStatus::kReleasing;
  loner.node = "node2";
  kept.Task("", loner, "loner");
  testing::Cycles cycles(kept.state);
  cycles.Run();
  kept.state.workload().RemoveTask(kept.FindTask("loner"));
  EXPECT_EQ(cycles.Run().Message("j"), RunCycle(fresh.state).Message("j"));
}

TEST(Verdict, OfFragmentedRoomNamesWhatRunsOutFirstOnEachNode) {
  //   node0 to node2 take one; on node2 both run out at once, and the lower name counts
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 3}).Node("node1", {.memory = 3});
  cluster.Node("node2", {.cpu = 3, .memory = 3}).Node("node3", {.cpu = 1});
  cluster.Job("j", {.tasks = 4, .task = {.cpu = 2, .memory = 2}});
  EXPECT_EQ(RunCycle(cluster.state).Message("j"),
            "4/4 tasks in gang unschedulable: 3 of 4 pods fit on the 4 nodes of the cluster: 3 "
            "Insufficient cpu, 1 Insufficient memory; the gang is larger than the whole cluster, "
            "which takes 3 of 4 pods when it is empty");
}

TEST(Verdict, OfFragmentedRoomInARackNamesWhatRunsOutThere) {
  ClusterBuilder cluster;
  cluster.Nodes(4, {.cpu = 3}).Leaf("s0", 1, {"node0", "node1"}).Leaf("s1", 1, {"node2", "node3"});
  cluster.Job("j", {.tasks = 3, .task = {.cpu = 2}, .topology = Hard(1)});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "GangLargerThanHyperNode");
  EXPECT_THAT(decisions.Message("j"),
              HasSubstr("HyperNode s0 (tier 1) takes 2 of 3; in HyperNode s0: 2 Insufficient cpu"));
}

TEST(Verdict, FullNodesBesideACordonedOneMeanNotEnoughResources) {
  ClusterBuilder cluster;
  cluster.Nodes(2, {.cpu = 3}).Node("node2", {.unschedulable = true});
  cluster.Job("j", {.tasks = 3, .task = {.cpu = 2}});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "NotEnoughResources");
  EXPECT_THAT(decisions.Message("j"),
              HasSubstr(": 2 Insufficient cpu, 1 node(s) were unschedulable"));
}

TEST(Verdict, NamesNoResourceOfNodesThatAFilterKeepsFromTakingMore) {
  ClusterBuilder cluster;
  cluster.Nodes(2).Job(
      "j", {.tasks = 3, .task = {.ports = {{.ip = "", .protocol = "TCP", .port = 80}}}});
  EXPECT_EQ(RunCycle(cluster.state).Message("j"),
            "3/3 tasks in gang unschedulable: 2 of 3 pods fit on the 2 nodes of the cluster");
}

TEST(Verdict, CountsPodsThatExcludeEachOtherTogether) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 12}).Leaf("s0", 1, {"node0"}).Occupy("node0", {.cpu = 4});
  for (const char* name : {"anywhere", "near"}) {
    const TopologySpec topology = name[0] == 'n' ? Hard(1) : TopologySpec{};
    cluster.Job(name, {.tasks = 0, .min_available = 2, .topology = topology});
    cluster.Task(name, {.cpu = 6}).Task(name, {.cpu = 4});
  }
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(
      decisions.Message("anywhere"),
      "2/2 tasks in gang unschedulable: 1 of 2 pods fit on the 1 node of the cluster: short of 2 "
      "cpu (1 Insufficient cpu)");
  EXPECT_THAT(decisions.Message("near"), HasSubstr("HyperNode s0 (tier 1) takes 1 of 2"));
}

TEST(Verdict, SaysWhyNoNodeTakesThePod) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.unschedulable = true});
  cluster.Job("j", {.tasks = 1});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "NoMatchingNode");
  EXPECT_THAT(decisions.Message("j"), HasSubstr("1 node(s) were unschedulable"));
}

TEST(Verdict, AnEmptyClusterMeansNotEnoughResources) {
  ClusterBuilder cluster;
  cluster.Job("j", {.tasks = 1});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_NE(decisions.Reason("j"), "");
}

TEST(Verdict, NamesAQueueThatDoesNotExist) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 1, .queue = "nowhere"});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "QueueNotFound");
  EXPECT_THAT(decisions.Message("j"), HasSubstr("nowhere"));
}

TEST(Verdict, NamesAQueueThatIsClosed) {
  ClusterBuilder cluster;
  cluster.Queue("shut", {.open = false}).Node("node0").Job("j", {.tasks = 1, .queue = "shut"});
  EXPECT_EQ(RunCycle(cluster.state).Reason("j"), "QueueClosed");
}

TEST(Verdict, NamesTheQuotaOfTheQueue) {
  ClusterBuilder cluster;
  cluster.Queue("small", {.cpu_capability = 2}).Node("node0");
  cluster.Job("j", {.tasks = 1, .task = {.cpu = 3}, .queue = "small"});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "QueueQuotaExceeded");
  EXPECT_THAT(decisions.Message("j"), HasSubstr("small"));
}

TEST(Verdict, OfAGangWithTooFewPodsCountsThem) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 2, .min_available = 3});
  EXPECT_EQ(RunCycle(cluster.state).Reason("j"), "NotEnoughTasks");
}

TEST(Verdict, NamesSchedulingGates) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 2, .task = {.gated = true}});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_EQ(decisions.Reason("j"), "SchedulingGated");
  EXPECT_THAT(decisions.Message("j"), HasSubstr("2"));
}

TEST(Verdict, OfPodsBeyondTheMinimumIsNotThatOfAGang) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 9, .min_available = 1});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.Message("j"), HasSubstr("1/9 tasks unschedulable: "));
}

TEST(Verdict, OfPodsLeftOverWhenTheQuotaRunsOutNamesTheQuota) {
  ClusterBuilder cluster;
  cluster.Queue("small", {.cpu_capability = 2}).Node("node0");
  cluster.Job("j", {.tasks = 3, .min_available = 1, .queue = "small"});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, ::testing::SizeIs(2));
  EXPECT_NE(decisions.Reason("j"), "");
}

TEST(Verdict, OfABestEffortPodThatFindsNoNodeNamesThePod) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.unschedulable = true}).Job("j", {.tasks = 1, .task = BestEffort()});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "NoMatchingNode");
  EXPECT_THAT(decisions.Message("j"), HasSubstr("j-w-0"));
}

TEST(Verdict, OfABestEffortPodWithoutADomainSaysWhatItWaitsFor) {
  //   the gang of the hard job is done; its helper has no domain to go to
  ClusterBuilder cluster;
  cluster.Node("node0").Leaf("s0", 1, {"node0"});
  cluster.Job("j", {.tasks = 0, .min_available = 1, .topology = Hard(1)});
  cluster.Task("j", {.status = TaskStatus::kRunning, .node = "gone"}).Task("j", BestEffort());
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_NE(decisions.Reason("j"), "");
}

// Two classes of which neither fits, in every order of arrival.
TEST(Verdict, DoesNotDependOnTheOrderOfThePods) {
  std::vector<std::string> names = {"j-w-0", "j-w-1"};
  std::vector<Decisions> seen;
  for (const bool swapped : {false, true}) {
    ClusterBuilder cluster;
    cluster.Node("node0", {.labels = {{"z", "1"}}});
    cluster.Job("j", {.tasks = 0, .min_available = 2});
    const auto add = [&](int rank) {
      const TaskArgs large = {.cpu = 99};
      const TaskArgs elsewhere = {.selector = {{"z", "2"}}};
      cluster.Task("j", rank == 0 ? large : elsewhere, names[static_cast<std::size_t>(rank)]);
    };
    add(swapped ? 1 : 0);
    add(swapped ? 0 : 1);
    seen.push_back(RunCycle(cluster.state));
  }
  EXPECT_EQ(seen[0], seen[1]);
}

// The default configuration with other actions.
SchedulerConfig WithActions(const std::vector<std::string>& names) {
  SchedulerConfig config = DefaultSchedulerConfig();
  config.actions.clear();
  for (const std::string& name : names) config.actions.push_back({.name = name, .arguments = {}});
  return config;
}

TEST(Verdict, OfPodsThatNoActionPlacesNamesTheActions) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 2});
  const Decisions decisions = RunCycle(cluster.state, WithActions({"enqueue", "backfill"}));
  EXPECT_EQ(decisions.Reason("j"), "NoAction");
  EXPECT_EQ(decisions.Message("j"),
            "2/2 tasks in gang unschedulable: no action of the configuration (enqueue, backfill) "
            "places its pods; allocate does");
}

TEST(Verdict, SaysThatNoActionAdmitsTheJob) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 1, .task = BestEffort(), .min_available = 0});
  const Decisions decisions = RunCycle(cluster.state, WithActions({"backfill"}));
  EXPECT_EQ(decisions.Reason("j"), "NoAction");
  EXPECT_THAT(decisions.Message("j"),
              HasSubstr("no action of the configuration (backfill) admits it to its queue; "
                        "enqueue does"));
}

TEST(Verdict, OfBestEffortPodsThatNoActionPlacesAsksForBackfill) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 1, .task = BestEffort(), .min_available = 0});
  for (const auto& actions : std::vector<std::vector<std::string>>{{"enqueue"}, {"allocate"}}) {
    const Decisions decisions = RunCycle(cluster.state, WithActions(actions));
    EXPECT_EQ(decisions.Reason("j"), "NoAction");
    EXPECT_THAT(decisions.Message("j"), HasSubstr("places its BestEffort pods; backfill does"));
  }
}

TEST(Verdict, OfAGangWithoutPodsIsTheSameWhateverActionsThereAre) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 0, .min_available = 2});
  EXPECT_EQ(RunCycle(cluster.state, WithActions({"enqueue"})).Reason("j"), "NotEnoughTasks");
}

TEST(Verdict, IsNoneWhenTheConfiguredActionsDidAllTheJobNeeds) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("j", {.tasks = 2});
  EXPECT_THAT(RunCycle(cluster.state, WithActions({"allocate"})).verdicts, IsEmpty());
}

TEST(Verdict, IgnoresRulesOfPodsOfDeletedJobs) {
  const auto message = [](const std::vector<PodTerm>& anti_affinity) {
    ClusterBuilder cluster;
    cluster.Node("node0").Node("node1", {.cpu = 32, .unschedulable = true});
    cluster.Job("gone", {.tasks = 0});
    cluster.Task("gone", {.rules = {.anti_affinity = anti_affinity}});
    cluster.state.workload().RemoveJob(*cluster.state.workload().FindJob("gone"));
    cluster.Job("j", {.tasks = 0, .min_available = 3});
    for (const Amount cpu : {6, 4, 9}) cluster.Task("j", {.cpu = cpu, .labels = {{"app", "x"}}});
    return RunCycle(cluster.state).Message("j");
  };
  EXPECT_EQ(message({testing::Pods("app", "x", "zone")}), message({}));
}

TEST(Verdict, DoesNotDependOnTheOrderInWhichResourcesBecameKnown) {
  std::vector<Decisions> seen;
  for (const bool swapped : {false, true}) {
    ClusterBuilder cluster;
    ResourceNames& names = cluster.state.resource_names();
    for (const char* name : {swapped ? "b/x" : "a/x", swapped ? "a/x" : "b/x"}) names.Intern(name);
    NodeSpec node = cluster.SpecOf("node0", {});
    ClassSpec wanted = cluster.ClassOf({});
    for (const char* name : {"a/x", "b/x"}) {
      node.allocatable.Set(names.Intern(name), 1000);
      wanted.request.Set(names.Intern(name), 1000);
    }
    ASSERT_TRUE(cluster.state.UpsertNode(node).has_value());
    cluster.Job("j", {.tasks = 0, .min_available = 2});
    for (const char* name : {"j-w-0", "j-w-1"}) {
      TaskSpec spec;
      spec.name = name;
      spec.uid = name;
      spec.job = cluster.FindJob("j");
      spec.constraints = wanted;
      cluster.state.workload().AddTask(spec);
    }
    seen.push_back(RunCycle(cluster.state));
  }
  EXPECT_EQ(seen[0], seen[1]);
}

}  // namespace
}  // namespace strata
