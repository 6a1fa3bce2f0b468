#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/policies/policy.h"
#include "replay/test_workload.h"

namespace strata::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Racks of hosts with one GPU each, in blocks: {{15, 13, 10}} is one block of three racks.
Fabric Racks(const std::vector<std::vector<int>>& blocks) {
  Fabric fabric;
  fabric.levels = {{.tier = 1, .name = "rack", .domains = {}, .of_node = {}},
                   {.tier = 2, .name = "block", .domains = {}, .of_node = {}}};
  for (const std::vector<int>& racks : blocks) {
    const auto block = static_cast<DomainIndex>(fabric.levels[1].domains.size());
    fabric.levels[1].domains.push_back("block-" + std::to_string(block));
    for (const int hosts : racks) {
      const auto rack = static_cast<DomainIndex>(fabric.levels[0].domains.size());
      fabric.levels[0].domains.push_back("rack-" + std::to_string(rack));
      for (int host = 0; host < hosts; ++host) {
        fabric.nodes.push_back({.name = "node-" + std::to_string(fabric.nodes.size()), .gpus = 1});
        fabric.levels[0].of_node.push_back(rack);
        fabric.levels[1].of_node.push_back(block);
      }
    }
  }
  return fabric;
}

// Pods of one gang by rack.
std::vector<int> SharesOf(const std::string& policy, const Fabric& fabric, TraceJob job) {
  const Workload workload = TestWorkload({std::move(job)}, fabric);
  const auto result = TestReplay(workload, fabric, policy, {.check = true, .keep_places = true});
  EXPECT_THAT(result.faults, IsEmpty());
  std::vector<int> shares(fabric.levels[0].domains.size());
  for (const NodeIndex node : result.places[0]) ++shares[fabric.levels[0].of_node[node]];
  return shares;
}

std::vector<int> Balanced(const std::vector<std::vector<int>>& blocks, int pods, int groups = 1) {
  TraceJob job = TestJob("a", 0, 1, pods, 1);
  job.groups = groups;
  return SharesOf("rule:kueue-balanced", Racks(blocks), std::move(job));
}

// The seven examples of Kueue's KEP-2724.
TEST(KueueBalanced, SharesAsTheExamplesOfKueueDo) {
  EXPECT_THAT(Balanced({{15}, {15}}, 25), ElementsAre(13, 12));
  EXPECT_THAT(Balanced({{15, 13, 10}}, 23), ElementsAre(12, 11, 0));
  EXPECT_THAT(Balanced({{20, 10}, {15, 15}}, 22), ElementsAre(0, 0, 11, 11));
  EXPECT_THAT(Balanced({{20, 10}, {15, 15}}, 20), ElementsAre(20, 0, 0, 0));
  EXPECT_THAT(Balanced({{10, 5}, {5, 5, 5}}, 15), ElementsAre(0, 0, 5, 5, 5));
  EXPECT_THAT(Balanced({{15}, {15}, {15, 15}}, 25), ElementsAre(0, 0, 13, 12));
  EXPECT_THAT(Balanced({{15}, {15}, {15, 15}}, 25, 5), ElementsAre(0, 0, 15, 10));
}

TEST(LowestSwitch, TakesTheFullestLeafThatHoldsTheGang) {
  EXPECT_THAT(SharesOf("rule:lowest-switch", Racks({{6, 4, 5}}), TestJob("a", 0, 1, 4, 1)),
              ElementsAre(0, 4, 0));
  // No leaf holds nine: the largest one, and of the others the one with the least surplus.
  EXPECT_THAT(SharesOf("rule:lowest-switch", Racks({{6, 4, 5}}), TestJob("a", 0, 1, 10, 1)),
              ElementsAre(6, 4, 0));
}

TEST(KueueBestFit, TakesTheLargestLeavesAndThenTheOneThatIsLeast) {
  const auto shares = [](const std::vector<std::vector<int>>& blocks, int pods) {
    return SharesOf("rule:kueue-bestfit", Racks(blocks), TestJob("a", 0, 1, pods, 1));
  };
  EXPECT_THAT(shares({{6, 4, 5}}, 4), ElementsAre(0, 4, 0));
  EXPECT_THAT(shares({{6, 4, 5, 2}}, 8), ElementsAre(6, 0, 0, 2));
  // The block with least room that holds the gang.
  EXPECT_THAT(shares({{15, 15}, {12, 12}}, 20), ElementsAre(0, 0, 12, 8));
}

TEST(Block, PutsEverySegmentIntoOneLeafOrNothing) {
  const auto shares = [](const std::vector<std::vector<int>>& blocks, int pods) {
    return SharesOf("rule:block,segment=4", Racks(blocks), TestJob("a", 0, 1, pods, 1));
  };
  EXPECT_THAT(shares({{6, 4, 5}}, 8), ElementsAre(0, 4, 4));
  EXPECT_THAT(shares({{9, 4, 5}}, 10), ElementsAre(2, 4, 4));
  const Fabric fabric = Racks({{6, 3}});
  const Workload workload = TestWorkload({TestJob("a", 0, 1, 8, 1)}, fabric);
  EXPECT_EQ(TestReplay(workload, fabric, "rule:block,segment=4").runs[0].start, JobRun::kNever);
  EXPECT_NE(TestReplay(workload, fabric, "rule:block").runs[0].start, JobRun::kNever);
  EXPECT_THAT(ChoosePolicy("rule:block,segment=0").error().message,
              HasSubstr("want rule:block,segment=PODS, from 1"));
}

TEST(NodeRules, FollowTheirRule) {
  const Fabric fabric = MakeFabric(1, 1, 3, 8);
  const std::vector<TraceJob> jobs = {
      TestJob("a", 0, 100, 1, 2), TestJob("b", 1, 100, 1, 4), TestJob("c", 2, 100, 1, 2)};
  const Workload workload = TestWorkload(jobs, fabric);
  const auto nodes = [&](const std::string& policy) {
    std::vector<NodeIndex> all;
    for (const auto& places : TestReplay(workload, fabric, policy, {.keep_places = true}).places) {
      all.push_back(places.front());
    }
    return all;
  };
  EXPECT_THAT(nodes("rule:first-fit"), ElementsAre(0, 0, 0));
  EXPECT_THAT(nodes("rule:spread"), ElementsAre(0, 1, 2));
  EXPECT_THAT(nodes("rule:binpack"), ElementsAre(0, 0, 0));
}

TEST(NodeRules, DrawLotsByTheSeed) {
  const Fabric fabric = MakeFabric(1, 2, 4, 8);
  std::vector<TraceJob> jobs;
  for (int i = 0; i < 20; ++i) jobs.push_back(TestJob("j" + std::to_string(i), i, 100, 1, 1));
  const Workload workload = TestWorkload(jobs, fabric);
  const auto places = [&](std::uint64_t seed) {
    return TestReplay(workload, fabric, "rule:random", {.keep_places = true}, seed).places;
  };
  EXPECT_EQ(places(1), places(1));
  EXPECT_NE(places(1), places(2));
}

TEST(ChoosePolicy, NamesTheKnownOnes) {
  EXPECT_THAT(ChoosePolicy("rule:magic").error().message,
              HasSubstr("unknown policy \"rule:magic\"; known are strata, rule:random"));
}

// Two nodes of one name would be one node to the core and two to the rules.
TEST(ReadOpenbNodes, RefusesANameThatIsThereTwice) {
  const std::string head = "sn,cpu_milli,memory_mib,gpu,model\n";
  EXPECT_EQ(ReadOpenbNodes("n.csv", head + "a,1,1,2,T4\na,1,1,8,T4\n").error().message,
            "n.csv:3:1: column sn: want a node named once, found \"a\"");
  EXPECT_EQ(ReadOpenbNodes("n.csv", head + ",1,1,2,T4\n").error().message,
            "n.csv:2:1: column sn: want a name, found \"\"");
  const auto two = ReadOpenbNodes("n.csv", head + "a,1,1,2,T4\nb,1,1,0,\nc,1,1,8,T4\n");
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(two->TotalGpus(), 10);
}

TEST(MakeWorkload, NamesTheJobThatAsksForATierThatIsNotThere) {
  const Fabric fabric = MakeFabric(1, 1, 3, 8);
  Trace trace;
  trace.jobs = {TestJob("a", 0, 1, 1, 1)};
  trace.jobs[0].wish = Wish::kHard;
  trace.jobs[0].tier = "pod";
  EXPECT_EQ(MakeWorkload(trace, fabric, {}).error().message,
            "job \"a\": tier \"pod\": the cluster has 1 (rack), 2 (spine)");
  trace.jobs[0] = TestJob("b", 0, 1, 1, 1);
  trace.jobs[0].gpu_milli = 500;
  EXPECT_THAT(MakeWorkload(trace, fabric, {}).error().message,
              HasSubstr("job \"b\": gpu_milli 500"));
}

}  // namespace
}  // namespace strata::replay
