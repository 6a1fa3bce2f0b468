#include "whatif/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/missing_classes.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;
using testing::SizeIs;

constexpr const char* kHardTier2 = "mode: hard, highestTierAllowed: 2";

TEST(RunCycles, AGangBindsRunsAndIsThenLeftAlone) {
  const Outcome run = Simulate(EightNodes("cpu: 1") + GangOf("train", 4, "cpu: 1", kHardTier2));
  EXPECT_EQ(run.result.cycles, 3);
  EXPECT_THAT(run.result.binds, SizeIs(4));
  ASSERT_THAT(run.result.jobs, ElementsAre(Key("default/train-train")));
  const RunResult::Job& job = run.result.jobs.begin()->second;
  EXPECT_EQ(job.phase, "Running");
  EXPECT_EQ(job.allocated_hypernode, "s4");
  EXPECT_EQ(job.tier, 2);
  EXPECT_EQ(job.reason, "");
  EXPECT_EQ(job.message, "");
}

TEST(MissingPriorityClasses, NamesTheFirstPodOfEachUnlessAServerTookIt) {
  const std::string text =
      GangOf("t", 3, "cpu: 1", "") +
      "apiVersion: v1\nkind: Pod\nmetadata: {name: known}\nspec: {schedulerName: volcano, "
      "priorityClassName: system-node-critical, containers: [{name: c, image: i}]}\n---\n"
      "apiVersion: v1\nkind: Pod\nmetadata: {name: taken}\nspec: {schedulerName: volcano, "
      "priorityClassName: gone, priority: 5, containers: [{name: c, image: i}]}\n";
  CompletedObjects objects = CompleteObjects(objects::MustLoad(text)).value();
  EXPECT_THAT(MissingPriorityClasses(objects), IsEmpty());
  for (objects::Pod& pod : objects.objects.pods) {
    if (pod.meta.name.starts_with("t-")) pod.spec.priority_class_name = "nope";
  }
  EXPECT_THAT(MissingPriorityClasses(objects),
              ElementsAre(AllOf(HasSubstr("Pod default/t-w-0: PriorityClass \"nope\" is not in the "
                                          "input"),
                                HasSubstr("(and 2 more pods)"))));
}

TEST(RunCycles, AnEmptyClusterTakesOneCycle) {
  EXPECT_EQ(Simulate(EightNodes("cpu: 1")).result.cycles, 1);
}

TEST(RunCycles, AGangThatFitsNowhereWaitsWithAReason) {
  const Outcome run = Simulate(EightNodes("cpu: 1") + GangOf("big", 5, "cpu: 1", kHardTier2));
  const RunResult::Job& job = run.result.jobs.at("default/big-big");
  EXPECT_THAT(run.result.binds, IsEmpty());
  EXPECT_EQ(job.phase, "Inqueue");
  EXPECT_NE(job.reason, "");
  EXPECT_NE(job.message, "");
  EXPECT_LT(run.result.cycles, 4);
}

TEST(RunCycles, CyclesAreCountedWhenTheyArePrescribed) {
  RunOptions options;
  options.cycles = 1;
  const Outcome once = Simulate(EightNodes("cpu: 1") + GangOf("train", 2, "cpu: 1", ""), options);
  EXPECT_EQ(once.result.cycles, 1);
  EXPECT_EQ(once.result.jobs.at("default/train-train").phase, "Inqueue") << "Running is seen later";
  options.cycles = 9;
  EXPECT_EQ(Simulate(EightNodes("cpu: 1"), options).result.cycles, 9);
}

constexpr const char* kTerminating =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: old, deletionTimestamp: "
    "\"2026-01-01T00:00:00Z\"}\n"
    "spec: {nodeName: node0, schedulerName: other, containers: [{name: c, image: i, resources: "
    "{requests: {cpu: 1}}}]}\nstatus: {phase: Running}\n---\n";

TEST(RunCycles, ATerminatingPodHoldsItsRoomForOneCycle) {
  const std::string manifests =
      EightNodes("cpu: 1") + kTerminating + GangOf("all", 8, "cpu: 1", "");
  RunOptions options;
  options.cycles = 1;
  const Outcome first = Simulate(manifests, options);
  EXPECT_THAT(first.result.binds, IsEmpty());
  EXPECT_THAT(first.result.pipelined, testing::Contains(Pair(testing::_, "node0")));
  const Outcome all = Simulate(manifests);
  EXPECT_THAT(all.result.binds, SizeIs(8));
  EXPECT_THAT(all.result.pipelined, IsEmpty());
}

TEST(RunCycles, ThePodGroupOfALonePodGoesWithIt) {
  std::string ours = kTerminating;
  ours.replace(ours.find("other"), 5, "volcano");
  const auto used_on_node0 = [](const Outcome& run) {
    return run.cluster.state->nodes().Used(*run.cluster.state->nodes().Find("node0"))[kCpu.index()];
  };
  RunOptions options;
  options.cycles = 1;
  const Outcome first = Simulate(EightNodes("cpu: 1") + ours, options);
  EXPECT_THAT(first.result.jobs, ElementsAre(Key("default/podgroup-old")));
  EXPECT_EQ(used_on_node0(first), 1000);
  const Outcome all = Simulate(EightNodes("cpu: 1") + ours);
  EXPECT_THAT(all.result.jobs, IsEmpty());
  EXPECT_EQ(used_on_node0(all), 0);
}

TEST(RunCycles, APodThatRunsDoesNotAskItsQueueAgain) {
  const std::string running =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
      "spec: {nodeName: node0, containers: [{name: c, image: i, resources: {requests: {cpu: "
      "1}}}]}\n"
      "status: {phase: Running}\n---\n";
  const Outcome run = Simulate(EightNodes("cpu: 1") + running + GangOf("t", 7, "cpu: 1", ""));
  EXPECT_THAT(run.result.binds, SizeIs(7));
  EXPECT_EQ(run.result.jobs.at("default/podgroup-p").phase, "Running");
  EXPECT_EQ(run.result.cycles, 3);
}

TEST(RunCycles, PodsWithoutTheirPodGroupAreSaidToWaitForIt) {
  const Outcome run = Simulate(
      EightNodes("cpu: 1") +
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {scheduling.k8s.io/group-name: "
      "gone}}\nspec: {schedulerName: volcano, containers: [{name: c, image: i}]}\n");
  const RunResult::Job& job = run.result.jobs.at("default/gone");
  EXPECT_EQ(job.phase, "Pending");
  EXPECT_EQ(job.reason, "PodGroupNotFound");
  EXPECT_EQ(job.message, "1 pod waits for PodGroup default/gone, which does not exist");
  EXPECT_THAT(run.result.binds, IsEmpty());
}

TEST(RunCycles, ALonePodGetsAPodGroupOfItsOwn) {
  const Outcome run =
      Simulate(EightNodes("cpu: 1") +
               "apiVersion: v1\nkind: Pod\nmetadata: {name: p, uid: u1}\n"
               "spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\n");
  EXPECT_THAT(run.result.jobs, ElementsAre(Key("default/podgroup-u1")));
  EXPECT_THAT(run.result.binds, ElementsAre(Key("default/p")));
}

TEST(RunCycles, EitherGroupAnnotationCounts) {
  const Outcome run =
      Simulate(EightNodes("cpu: 1") +
               "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: pg}\n"
               "spec: {minMember: 1}\n---\n"
               "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: "
               "{scheduling.volcano.sh/group-name: pg}}\n"
               "spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\n");
  EXPECT_THAT(run.result.jobs, ElementsAre(Key("default/pg")));
  EXPECT_EQ(run.result.jobs.at("default/pg").phase, "Running");
}

TEST(RunCycles, HyperNodesAreListedWithTheirRealNodes) {
  const Outcome run = Simulate(EightNodes("cpu: 1"));
  EXPECT_THAT(run.result.hypernodes, SizeIs(7));
  EXPECT_EQ(run.result.hypernodes.at("s0").parent, "s4");
  EXPECT_EQ(run.result.hypernodes.at("s4").nodes, 4U);
  EXPECT_EQ(run.result.hypernodes.at("s6").parent, "");
  EXPECT_TRUE(run.result.topology_ready);
}

TEST(RunCycles, TracingAndTimingChangeNoDecision) {
  const std::string manifests = EightNodes("cpu: 2") + GangOf("a", 3, "cpu: 1", kHardTier2) +
                                GangOf("b", 9, "cpu: 1", "mode: soft");
  TraceLog trace;
  RunOptions options;
  options.trace = &trace;
  RunResult traced = Simulate(manifests, options).result;
  EXPECT_FALSE(trace.entries().empty());
  EXPECT_EQ(traced, Simulate(manifests).result);
}

TEST(RunCycles, TheStopwatchIsReadAroundEachStep) {
  RunOptions options;
  options.cycles = 2;
  options.stopwatch = [now = std::chrono::nanoseconds(0)]() mutable {
    return now += std::chrono::milliseconds(1);
  };
  const Outcome run = Simulate(EightNodes("cpu: 1"), options);
  ASSERT_TRUE(run.result.timings.has_value());
  EXPECT_EQ(run.result.timings->open_ms, 2);
  EXPECT_EQ(run.result.timings->actions_ms, 2);
  EXPECT_EQ(run.result.timings->close_ms, 2);
}

TEST(RunCycles, TheClockIsTheLatestTimeInTheInput) {
  const auto cluster = BuildCluster(
      objects::MustLoad("apiVersion: v1\nkind: Namespace\nmetadata: {name: a, creationTimestamp: "
                        "\"2026-01-02T00:00:00Z\"}\n---\n"
                        "apiVersion: v1\nkind: Node\nmetadata: {name: n0, creationTimestamp: "
                        "\"2026-01-01T00:00:00Z\"}\n"
                        "status: {conditions: [{type: Ready, status: \"True\", lastTransitionTime: "
                        "\"2026-01-03T00:00:00Z\"}]}\n"));
  ASSERT_TRUE(cluster.has_value());
  EXPECT_EQ(cluster->latest, std::chrono::sys_days(std::chrono::year(2026) / 1 / 3));
}

TEST(RunCycles, AnEvictedPodIsGoneInTheNextCycle) {
  const Outcome run = Simulate(FullCluster(), {}, WithGangPreempt());
  EXPECT_THAT(run.result.evicted, ElementsAre("default/old"));
  EXPECT_THAT(run.result.binds, ElementsAre(Pair("default/urgent", "n0")));
  EXPECT_EQ(run.result.seconds, 0);
  EXPECT_EQ(run.result.jobs.at("default/low").reason, "NotEnoughTasks");
}

TEST(RunCycles, ARecreatedPodWaits) {
  const Outcome run = Simulate(FullCluster(), {.recreate = true}, WithGangPreempt());
  EXPECT_THAT(run.result.evicted, ElementsAre("default/old"));
  EXPECT_THAT(run.result.binds, ElementsAre(Pair("default/urgent", "n0")));
  EXPECT_EQ(run.result.jobs.at("default/low").reason, "NothingToEvict");
}

TEST(RunCycles, AnEvictedPodHoldsItsRoomUntilItsGraceIsOver) {
  RunOptions options{.play_grace = true};
  const Outcome run = Simulate(FullCluster(), options, WithGangPreempt());
  EXPECT_THAT(run.result.binds, ElementsAre(Pair("default/urgent", "n0")));
  EXPECT_EQ(run.result.seconds, 45);
  EXPECT_THAT(run.result.evictions, SizeIs(1)) << "who waits for room does not evict again";
  options.cycles = 2;
  const Outcome early = Simulate(FullCluster(), options, WithGangPreempt());
  EXPECT_THAT(early.result.binds, IsEmpty());
  EXPECT_THAT(early.result.pipelined, ElementsAre(Pair("default/urgent", "n0")));
}

TEST(RunCycles, VictimsAreDescribed) {
  const Outcome run = Simulate(FullCluster(), {}, WithGangPreempt());
  ASSERT_THAT(run.result.evictions, SizeIs(1));
  ASSERT_THAT(run.result.evictions[0].victims, SizeIs(1));
  const RunResult::Evictions::Victim& victim = run.result.evictions[0].victims[0];
  EXPECT_EQ(victim.job, "default/low");
  EXPECT_EQ(victim.queue, "default");
  EXPECT_EQ(victim.priority, 1);
  EXPECT_THAT(victim.nodes, ElementsAre("n0"));
  EXPECT_EQ(victim.runs_for, std::nullopt) << "its start is not known";
  EXPECT_EQ(victim.grace_seconds, 45);
}

TEST(RunCycles, ExplainsOneJobAloneWhereThatIsAllThatIsAsked) {
  const std::string one_leaf = "mode: hard, highestTierAllowed: 1";
  const std::string manifests = EightNodes("cpu: 1") + GangOf("one", 3, "cpu: 1", one_leaf) +
                                GangOf("two", 3, "cpu: 1", one_leaf);
  const RunResult all = Simulate(manifests).result;
  RunOptions options;
  options.explain_only = "default/one-one";
  const RunResult one = Simulate(manifests, options).result;
  EXPECT_EQ(one.jobs.at("default/one-one"), all.jobs.at("default/one-one"));
  EXPECT_FALSE(all.jobs.at("default/two-two").message.empty());
  EXPECT_EQ(one.jobs.at("default/two-two").message, "");
  EXPECT_NE(one.jobs.at("default/two-two").reason, "") << "it waits all the same";
  EXPECT_EQ(one.lines, all.lines);
}

}  // namespace
}  // namespace strata
