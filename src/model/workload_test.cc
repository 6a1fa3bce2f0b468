#include "model/workload.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

SubGroupPolicy Policy(std::string name, std::vector<std::string> keys) {
  SubGroupPolicy policy;
  policy.name = std::move(name);
  policy.match_label_keys = std::move(keys);
  return policy;
}

LabelSelector Role(std::string role) {
  return {{{"role", SelectorOp::kIn, {std::move(role)}}}};
}

TEST(SubGroupOf, TakesTheFirstPolicyWhoseSelectorAndKeysMatch) {
  SubGroupPolicy decode = Policy("decode", {"part"});
  decode.selector = Role("decode");
  const std::vector<SubGroupPolicy> policies = {decode, Policy("any", {"part"})};
  EXPECT_EQ(SubGroupOf(policies, {{"role", "decode"}, {"part", "3"}}), (SubGroupKey{0, {"3"}}));
  EXPECT_EQ(SubGroupOf(policies, {{"role", "prefill"}, {"part", "3"}}), (SubGroupKey{1, {"3"}}));
}

TEST(SubGroupOf, WantsAValueForEveryKey) {
  const std::vector<SubGroupPolicy> policies = {Policy("p", {"a", "b"})};
  EXPECT_EQ(SubGroupOf(policies, {{"a", "1"}, {"b", "2"}}), (SubGroupKey{0, {"1", "2"}}));
  EXPECT_EQ(SubGroupOf(policies, {{"a", "1"}}), std::nullopt);
  EXPECT_EQ(SubGroupOf(policies, {{"a", "1"}, {"b", ""}}), std::nullopt);
}

TEST(SubGroupOf, NeverMatchesAPolicyWithoutKeys) {
  EXPECT_EQ(SubGroupOf({Policy("p", {})}, {{"a", "1"}}), std::nullopt);
}

TEST(SubGroupOf, APodThatOnlyLacksALabelMissesThePolicy) {
  const TopologySpec hard = {
      .mode = TopologySpec::Mode::kHard, .highest_tier = 1, .highest_tier_name = ""};
  SubGroupPolicy keyless;
  keyless.topology = hard;
  SubGroupPolicy free;
  free.match_label_keys = {"part"};
  SubGroupPolicy bound = free;
  bound.selector = LabelSelector{{{"role", SelectorOp::kIn, {"worker"}}}};
  bound.topology = hard;
  const std::vector<SubGroupPolicy> policies = {keyless, free, bound};
  EXPECT_EQ(PolicyMissed(policies, {{"role", "worker"}}), 2U);
  EXPECT_EQ(PolicyMissed(policies, {{"role", "leader"}}), std::nullopt);
}

TaskCounts Counts(std::initializer_list<std::pair<TaskStatus, std::int32_t>> by_status) {
  TaskCounts counts;
  for (const auto& [status, count] : by_status) {
    counts.by_status[static_cast<std::size_t>(status)] = count;
  }
  return counts;
}

TEST(TaskCounts, CallAllocatedWhatHoldsANodeForGood) {
  const TaskCounts counts = Counts({{TaskStatus::kAllocated, 1},
                                    {TaskStatus::kBinding, 10},
                                    {TaskStatus::kBound, 100},
                                    {TaskStatus::kRunning, 1000},
                                    {TaskStatus::kPipelined, 7},
                                    {TaskStatus::kReleasing, 7},
                                    {TaskStatus::kSucceeded, 7}});
  EXPECT_EQ(counts.Allocated(), 1111);
  EXPECT_EQ(counts.Total(), 1132);
}

TEST(TaskCounts, CallReadyAlsoWhatSucceededAndPendingBestEffort) {
  TaskCounts counts =
      Counts({{TaskStatus::kRunning, 2}, {TaskStatus::kSucceeded, 3}, {TaskStatus::kPending, 5}});
  counts.pending_best_effort = 4;
  EXPECT_EQ(counts.Ready(), 2 + 3 + 4);
}

TEST(TaskCounts, CallValidWhatMayStillMakeUpTheGangAndNotWhatFailed) {
  TaskCounts counts = Counts({{TaskStatus::kRunning, 1},
                              {TaskStatus::kPipelined, 2},
                              {TaskStatus::kPending, 3},
                              {TaskStatus::kFailed, 50},
                              {TaskStatus::kReleasing, 50}});
  counts.pending_best_effort = 3;  // counted once, as pending
  EXPECT_EQ(counts.Valid(), 6);
}

TEST(Job, HasTheTopologyOfItsSubJobsToo) {
  Job job;
  job.sub_jobs.resize(2);
  EXPECT_FALSE(job.HasTopology());
  job.sub_jobs[1].topology.mode = TopologySpec::Mode::kSoft;
  EXPECT_TRUE(job.HasTopology());
  EXPECT_FALSE(job.HasHardTopology());
  job.sub_jobs[1].topology.mode = TopologySpec::Mode::kHard;
  EXPECT_TRUE(job.HasHardTopology());
}

}  // namespace
}  // namespace strata
