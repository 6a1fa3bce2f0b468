// HyperNodes with more units than every combination can be tried of.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/actions/test_eviction.h"
#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using testing::Cycles;
using testing::Decisions;
using testing::Evicting;
using testing::Hard;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JobArgs;
using ::testing::SizeIs;
using testing::TaskArgs;

// Nodes of 20 cores, full of jobs with one pod of one core each, which may all go but for budgets.
class ManyUnitsTest : public ::testing::Test {
 protected:
  // The budget of all pods with the label `name` allows one eviction.
  void Budget(const std::string& name) {
    BudgetSpec spec;
    spec.name = "ns/" + name;
    spec.selector = LabelSelector{{{name, SelectorOp::kExists, {}}}};
    spec.allowed = 1;
    cluster_.state.budgets().Upsert(std::move(spec));
  }
  void Runs(const std::string& job,
            const std::string& node,
            const Labels& labels = {},
            std::int32_t priority = 0) {
    TaskArgs pod{.cpu = 1};
    pod.disruption.budgets = cluster_.state.budgets().GroupOf("ns", labels);
    cluster_.Job(job, {.tasks = 0, .min_available = 0, .priority = priority});
    cluster_.Running(job, {node}, pod);
    cluster_.state.workload().SetJobPhase(cluster_.FindJob(job), JobPhase::kRunning);
  }
  void RunMany(int jobs, const std::string& node) {
    for (int i = 0; i < jobs; ++i) Runs(fmt::format("m-{}-{:02}", node, i), node);
  }
  void WaitsForNodes(int nodes) {
    cluster_.Job("high", {.tasks = nodes, .task = {.cpu = 20}, .priority = 10});
  }
  Decisions Run() {
    SchedulerConfig config = Evicting("gangpreempt");
    PluginConfig pdb;
    pdb.name = "pdb";
    config.tiers.back().push_back(std::move(pdb));
    return Cycles(cluster_.state, config).Run();
  }

  ClusterBuilder cluster_;
};

TEST_F(ManyUnitsTest, ANodeThatCannotBeClearedUsesUpNoBudget) {
  cluster_.Nodes(2, {.cpu = 20});
  Budget("x");
  // node0 can be cleared. node1 looks cheaper, but one of its pods stays in any case.
  RunMany(19, "node0");
  Runs("z", "node0", {{"x", ""}});
  RunMany(18, "node1");
  Runs("a", "node1", {{"x", ""}});
  Runs("kept", "node1", {}, 100);
  WaitsForNodes(1);
  const Decisions decided = Run();
  EXPECT_THAT(decided.evicted, SizeIs(20)) << decided.Message("high");
}

TEST_F(ManyUnitsTest, TheSearchSaysWhenItDidNotTryEveryChoice) {
  cluster_.Nodes(3, {.cpu = 20});
  Budget("x");
  Budget("y");
  // node1 and node2 can be cleared together, but node0, which looks like them, needs both budgets.
  RunMany(18, "node0");
  Runs("a-x", "node0", {{"x", ""}});
  Runs("a-y", "node0", {{"y", ""}});
  RunMany(19, "node1");
  Runs("z-x", "node1", {{"x", ""}});
  RunMany(19, "node2");
  Runs("z-y", "node2", {{"y", ""}});
  WaitsForNodes(2);
  const Decisions decided = Run();
  EXPECT_THAT(decided.evicted, IsEmpty());
  EXPECT_EQ(decided.Reason("high"), "EvictionSearchCut");
  EXPECT_THAT(decided.Message("high"),
              HasSubstr("of the 60 pods that may go for it, not every choice was tried"));
}

TEST_F(ManyUnitsTest, NothingIsLeftToTryWhenAllMayGoTogether) {
  cluster_.Nodes(2, {.cpu = 20});
  for (const std::string node : {"node0", "node1"}) {
    RunMany(19, node);
    Runs("kept-" + node, node, {}, 100);
  }
  WaitsForNodes(1);
  EXPECT_EQ(Run().Reason("high"), "NothingToEvict");
}

TEST_F(ManyUnitsTest, TheSearchSaysThatItDidNotLookAtEveryHyperNode) {
  constexpr int kRacks = 40;
  for (int i = 0; i < kRacks; ++i) {
    const std::string first = fmt::format("n{:02}-0", i);
    const std::string second = fmt::format("n{:02}-1", i);
    for (const std::string& node : {first, second}) {
      cluster_.Node(node, {.cpu = 20, .labels = {{"zone", "z"}}});
      RunMany(20, node);
    }
    cluster_.Leaf(fmt::format("r{:02}", i), 1, {first, second});
  }
  // By amounts both pods fit into each rack, but each keeps off the other's zone.
  JobArgs args{.tasks = 2, .task = {.cpu = 20}, .topology = Hard(1), .priority = 10};
  args.task.labels = {{"app", "x"}};
  args.task.rules.anti_affinity = {testing::Pods("app", "x", "zone")};
  cluster_.Job("high", args);
  const auto reason_with = [&](std::int64_t domains) {
    const SchedulerConfig config = Evicting("gangpreempt", {{"maxDomains", domains}});
    return Cycles(cluster_.state, config).Run().Reason("high");
  };
  EXPECT_EQ(reason_with(36), "EvictionSearchCut");
  EXPECT_EQ(reason_with(kRacks), "NothingToEvict");
}

}  // namespace
}  // namespace strata
