#include "simulate/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/test_support.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

SimulationResult OneJob(SimulationResult::Job job) {
  SimulationResult result;
  result.jobs["ns/pg"] = std::move(job);
  return result;
}

SimulationResult::Job Running() {
  SimulationResult::Job job;
  job.phase = "Running";
  return job;
}

TEST(Explain, BeginsWithTheVerdict) {
  EXPECT_THAT(ExplainJob(OneJob({.phase = "Inqueue",
                                 .allocated_hypernode = "",
                                 .tier = 0,
                                 .reason = "Full",
                                 .message = "no room"}),
                         {},
                         "ns/pg"),
              ElementsAre("ns/pg waits (Full): no room"));
  EXPECT_THAT(ExplainJob(OneJob({.phase = "Running",
                                 .allocated_hypernode = "s4",
                                 .tier = 2,
                                 .reason = "",
                                 .message = ""}),
                         {},
                         "ns/pg"),
              ElementsAre("ns/pg is Running in s4 (tier 2)."));
}

TEST(Explain, TellsTheLastCycleThatLookedAtTheJob) {
  TraceLog trace;
  trace.BeginCycle(1);
  trace.Record(StepRecord{StepRecord::Kind::kAllocate, "ns/pg", "ns/old", "n9", ""});
  trace.BeginCycle(2);
  trace.Record(GradientRecord{
      "ns/pg", "", "top", {{1, {}, {{"s0", "small"}, {"s1", "small"}}}, {2, {"s4", "s5"}, {}}}});
  HyperNodeScoreRecord score;
  score.job = "ns/pg";
  score.total = {{"s4", ToScore(50)}, {"s5", ToScore(40)}};
  score.failed = {"s5"};
  score.chosen = "s4";
  trace.Record(score);
  trace.Record(RejectRecord{"ns/pg", "ns/p", "n1", "predicates", "taint"});
  trace.Record(StepRecord{StepRecord::Kind::kAllocate, "ns/pg", "ns/p", "n0", ""});
  trace.Record(StepRecord{StepRecord::Kind::kAllocate, "ns/other", "ns/q", "n0", ""});
  EXPECT_THAT(ExplainJob(OneJob(Running()), trace, "ns/pg"),
              ElementsAre("ns/pg is Running.",
                          "  the search began at top",
                          "    tier 1: ruled out: s0, s1: small",
                          "    tier 2: open: s4, s5",
                          "  tried, but the gang did not fit: s5",
                          "  chosen: s4 (score 50.000, 2 of its tier compared)",
                          "  nodes that do not take it: n1: predicates: taint",
                          "  ns/p on n0"));
}

TEST(Explain, AJobIsFoundByItsOwnNameAndByThatOfItsPodGroup) {
  const Outcome run = Simulate(EightNodes("cpu: 1") + GangOf("t", 2, "cpu: 1", ""));
  EXPECT_EQ(FindJobByName(run.result, run.cluster, "default/t").value(), "default/t-t");
  EXPECT_EQ(FindJobByName(run.result, run.cluster, "default/t-t").value(), "default/t-t");
  EXPECT_EQ(FindJobByName(run.result, run.cluster, "default/u").error().message,
            "no job default/u (there is default/t-t)");
}

TEST(Explain, ManyNamesAreCutShort) {
  TraceLog trace;
  GradientRecord record{"ns/pg", "", "top", {{1, {}, {}}}};
  for (char c = 'a'; c <= 'i'; ++c) record.tiers[0].eligible.emplace_back(1, c);
  trace.Record(record);
  EXPECT_THAT(ExplainJob(OneJob(Running()), trace, "ns/pg").back(),
              StartsWith("    tier 1: open: a, b, c, d, e, f and 3 more"));
}

}  // namespace
}  // namespace strata
