#include "simulate/render_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/test_support.h"

namespace strata {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Table(const Outcome& run, const TextStyle& style = {}) {
  return RenderTable(run.result, *run.cluster.state, style);
}

TEST(RenderTable, ShowsJobsPodsAndHyperNodes) {
  const Outcome run = Simulate(EightNodes("cpu: 1, memory: 1Gi") +
                               GangOf("t", 2, "cpu: 1", "mode: hard, highestTierAllowed: 1"));
  EXPECT_EQ(Table(run),
            R"(JOB          PHASE    PODS  DOMAIN  TIER  REASON
default/t-t  Running   2/2  s0         1

PODS BY LEAF HYPERNODE
s0 (tier 1)
  node0  default/t-w-0
  node1  default/t-w-1

HYPERNODE    TIER  NODES  CPU USED  FREE  MEMORY USED  FREE  MEMBERS
(cluster)    4         8         2     6            0   8Gi
└─ s6        3         8         2     6            0   8Gi
   ├─ s4     2         4         2     2            0   4Gi
   │  ├─ s0  1         2         2     0            0   2Gi  node0 node1
   │  └─ s1  1         2         0     2            0   2Gi  node2 node3
   └─ s5     2         4         0     4            0   4Gi
      ├─ s2  1         2         0     2            0   2Gi  node4 node5
      └─ s3  1         2         0     2            0   2Gi  node6 node7

2 pods bound; 0 of 1 job not placed; 3 cycles.
)");
}

TEST(RenderTable, CallsJobsAsItIsTold) {
  const Outcome run = Simulate(EightNodes("cpu: 1") + GangOf("t", 2, "cpu: 1", ""));
  EXPECT_THAT(RenderTable(run.result,
                          *run.cluster.state,
                          {},
                          [](const std::string& group) { return "[" + group + "]"; }),
              HasSubstr("\n[default/t-t]  Running "));
}

TEST(RenderTable, WrapsTheSentenceBelowAJobThatWaits) {
  Outcome run = Simulate(EightNodes("cpu: 1"));
  run.result.jobs["ns/j"] = {.phase = "Pending",
                             .allocated_hypernode = "",
                             .tier = 0,
                             .reason = "Full",
                             .message = "there is no room at all"};
  EXPECT_THAT(
      Table(run, {.colour = false, .width = 20}),
      HasSubstr("ns/j  Pending     -  -          -  Full\n    there is no room\n    at all\n"));
  EXPECT_THAT(Table(run), HasSubstr("No pod was placed in this run.\n"));
  EXPECT_THAT(Table(run), HasSubstr("0 pods bound; 1 of 1 job not placed; 1 cycle.\n"));
}

TEST(RenderTable, MarksPodsThatWaitForRoom) {
  Outcome run = Simulate(EightNodes("cpu: 1"));
  run.result.pipelined["ns/p"] = "node0";
  EXPECT_THAT(Table(run), HasSubstr("s0 (tier 1)\n  node0  ns/p (waits)\n"));
  EXPECT_THAT(Table(run), HasSubstr(", 1 waiting for room that is being released"));
}

TEST(RenderTable, ListsEvictedPodsByJob) {
  Outcome run = Simulate(EightNodes("cpu: 1"));
  EXPECT_THAT(Table(run), Not(HasSubstr("EVICTED")));
  run.result.evicted = {"ns/a-0", "ns/a-1", "ns/b-0"};
  run.result.evictions.push_back(
      {.cycle = 1,
       .action = "gangpreempt",
       .claimant = "ns/high",
       .hypernode = "s0",
       .tier = 1,
       .victims = {{"ns/a", true, {"ns/a-0", "ns/a-1"}}, {"ns/b", false, {"ns/b-0"}}}});
  EXPECT_THAT(Table(run),
              HasSubstr("EVICTED\n"
                        "JOB   UNIT     PODS  BY           FOR\n"
                        "ns/a  gang        2  gangpreempt  ns/high in s0 (tier 1)\n"
                        "ns/b  surplus     1  gangpreempt  ns/high in s0 (tier 1)\n"));
  EXPECT_THAT(Table(run), HasSubstr(", 3 evicted"));
}

TEST(RenderTable, ColoursOnlyWhenAskedFor) {
  const Outcome run = Simulate(EightNodes("cpu: 1"));
  EXPECT_THAT(Table(run), Not(HasSubstr("\x1b")));
  EXPECT_THAT(Table(run, {.colour = true, .width = 100}), HasSubstr("\x1b[1m"));
}

}  // namespace
}  // namespace strata
