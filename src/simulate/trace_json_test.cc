#include "simulate/trace_json.h"

#include <sstream>

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(TraceJson, GradientsListEveryTier) {
  GradientRecord record{
      .job = "ns/pg", .sub_job = "", .root = "<cluster-top-hypernode>", .tiers = {}};
  record.tiers.push_back({.tier = 1, .eligible = {"s0"}, .rejected = {{"s1", "too small"}}});
  EXPECT_EQ(ToJsonLine(2, record),
            R"({"cycle":2,"type":"gradient","job":"ns/pg","subJob":"",)"
            R"("root":"<cluster-top-hypernode>","tiers":[{"tier":1,"eligible":["s0"],)"
            R"("rejected":[{"hyperNode":"s1","reason":"too small"}]}]})");
}

TEST(TraceJson, ScoresAreDoubles) {
  HyperNodeScoreRecord record;
  record.job = "ns/pg";
  record.scores["network-topology-aware"]["s0"] = ToScore(50);
  record.total["s0"] = ToScore(50);
  record.failed = {"s1"};
  record.chosen = "s0";
  EXPECT_EQ(ToJsonLine(1, record),
            R"({"cycle":1,"type":"hyperNodeScore","job":"ns/pg","subJob":"",)"
            R"("scores":{"network-topology-aware":{"s0":50.0}},"total":{"s0":50.0},)"
            R"("failed":["s1"],"chosen":"s0"})");
}

TEST(TraceJson, NodeScoresNamePodAndDomain) {
  NodeScoreRecord record{
      .job = "ns/pg", .pod = "ns/p", .hypernode = "s0", .scores = {}, .total = {}, .chosen = "n0"};
  record.scores["binpack"]["n0"] = ToScore(12.5);
  record.total["n0"] = ToScore(12.5);
  EXPECT_EQ(ToJsonLine(1, record),
            R"({"cycle":1,"type":"nodeScore","job":"ns/pg","pod":"ns/p","hyperNode":"s0",)"
            R"("scores":{"binpack":{"n0":12.5}},"total":{"n0":12.5},"chosen":"n0"})");
}

TEST(TraceJson, RejectionsAndStepsAreShort) {
  EXPECT_EQ(ToJsonLine(1, RejectRecord{"ns/pg", "ns/p", "n3", "predicates", "taint"}),
            R"({"cycle":1,"type":"reject","job":"ns/pg","pod":"ns/p","node":"n3",)"
            R"("plugin":"predicates","reason":"taint"})");
  EXPECT_EQ(ToJsonLine(1, StepRecord{StepRecord::Kind::kAllocate, "ns/pg", "ns/p", "n0", ""}),
            R"({"cycle":1,"type":"allocate","job":"ns/pg","pod":"ns/p","node":"n0"})");
  EXPECT_EQ(ToJsonLine(1, StepRecord{StepRecord::Kind::kDiscard, "ns/pg", "", "", "s0"}),
            R"({"cycle":1,"type":"discard","job":"ns/pg","hyperNode":"s0"})");
}

TEST(TraceJson, StepsTellTheGpusOfEachContainer) {
  StepRecord step{StepRecord::Kind::kAllocate, "ns/pg", "ns/p", "n0", ""};
  step.devices = DeviceRecord{{{.name = "main",
                                .uuids = {"GPU-a", "GPU-b"},
                                .links = {"0-1 NV2+PIX"},
                                .score = 250,
                                .best = 260,
                                .proven = false}}};
  EXPECT_EQ(ToJsonLine(1, step),
            R"({"cycle":1,"type":"allocate","job":"ns/pg","pod":"ns/p","node":"n0",)"
            R"("devices":{"main":{"uuids":["GPU-a","GPU-b"],"links":["0-1 NV2+PIX"],)"
            R"("score":250,"best":260,"proven":false}}})");
}

TEST(TraceJson, WritesOneLineForEachRecordOfItsCycle) {
  std::ostringstream out;
  JsonLinesTrace trace(out);
  trace.BeginCycle(3);
  trace.Record(StepRecord{StepRecord::Kind::kCommit, "ns/pg", "", "", "s0"});
  trace.Record(StepRecord{StepRecord::Kind::kEvict, "ns/pg", "ns/p", "n0", ""});
  EXPECT_EQ(
      out.str(),
      "{\"cycle\":3,\"type\":\"commit\",\"job\":\"ns/pg\",\"hyperNode\":\"s0\"}\n"
      "{\"cycle\":3,\"type\":\"evict\",\"job\":\"ns/pg\",\"pod\":\"ns/p\",\"node\":\"n0\"}\n");
}

}  // namespace
}  // namespace strata
