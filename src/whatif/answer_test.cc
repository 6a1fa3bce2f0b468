#include "whatif/answer.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/test_support.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two gangs of four pods in eight nodes, each pod as large as a node, each gang below one tier-2
// HyperNode.
CompletedObjects TwoGangs() {
  const std::string hard = "mode: hard, highestTierAllowed: 2";
  return CompleteObjects(objects::MustLoad(EightNodes("cpu: 1, pods: 9") +
                                           GangOf("a", 4, "cpu: 1", hard) +
                                           GangOf("b", 4, "cpu: 1", hard)))
      .value();
}

WhatIfAnswer Answer(const std::vector<Edit>& edits) {
  auto answer = AnswerWhatIf(TwoGangs(), edits, "default", DefaultSchedulerConfig(), {});
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? std::move(*answer) : WhatIfAnswer{};
}

TEST(AnswerWhatIf, SaysWhichJobsLoseTheirPlace) {
  const WhatIfAnswer answer = Answer({{Edit::Kind::kDrain, "node7"}});
  ASSERT_EQ(answer.differences.size(), 1U);
  EXPECT_THAT(answer.changes, ElementsAre("node7 drained: 0 pods wait again"));
  EXPECT_EQ(answer.differences.front().job, "default/b");
  EXPECT_EQ(ToText(answer.differences.front().before), "in s5 (tier 2)");
  EXPECT_THAT(ToText(answer.differences.front().after), testing::StartsWith("waits ("));
  EXPECT_THAT(Sentences(answer.differences).front(),
              testing::StartsWith("default/b: in s5 (tier 2), would wait ("));
}

TEST(AnswerWhatIf, AJobThatIsRemovedIsNotThere) {
  const WhatIfAnswer answer = Answer({{Edit::Kind::kWithout, "b"}});
  EXPECT_THAT(Sentences(answer.differences),
              ElementsAre("default/b: in s5 (tier 2), would be not there"));
}

TEST(StandingsOf, OfSeveralJobsWithOneNameTheFirstHasIt) {
  RunResult run;
  run.jobs["ns/a"] = {.phase = "Running", .allocated_hypernode = "s0", .tier = 1};
  run.jobs["ns/b"] = {.phase = "Inqueue", .allocated_hypernode = {}, .tier = 0};
  run.jobs["ns/c"] = {.phase = "Running", .allocated_hypernode = {}, .tier = 4};
  const JobStandings standings = StandingsOf(run, [](const std::string&) { return "ns/web"; });
  std::vector<std::string> lines;
  for (const auto& [name, standing] : standings) lines.push_back(name + ": " + ToText(standing));
  EXPECT_THAT(lines, ElementsAre("ns/b: waits", "ns/c: placed", "ns/web: in s0 (tier 1)"));
}

TEST(AnswerWhatIf, WithoutEditsNothingDiffers) {
  EXPECT_THAT(Answer({}).differences, IsEmpty());
}

}  // namespace
}  // namespace strata
