#include "model/resources.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::ElementsAre;

Resources Of(Amount cpu, Amount memory, Amount pods = 0) {
  Resources resources;
  resources.Set(kCpu, cpu);
  resources.Set(kMemory, memory);
  resources.Set(kPods, pods);
  return resources;
}

TEST(ResourceNames, KnowsCpuMemoryAndPodsFromTheStart) {
  const ResourceNames names;
  EXPECT_EQ(names.Find("cpu"), kCpu);
  EXPECT_EQ(names.Find("memory"), kMemory);
  EXPECT_EQ(names.Find("pods"), kPods);
  EXPECT_EQ(names.Find("nvidia.com/gpu"), std::nullopt);
}

TEST(ResourceNames, GivesANameTheSameIdEveryTime) {
  ResourceNames names;
  const ResourceId gpu = names.Intern("nvidia.com/gpu");
  EXPECT_NE(gpu, names.Intern("rdma/hca"));
  EXPECT_EQ(gpu, names.Intern("nvidia.com/gpu"));
  EXPECT_EQ(names.name(gpu), "nvidia.com/gpu");
}

TEST(ResourceNames, WhatNoNodeHasTakesNoPlaceAmongTheOthers) {
  ResourceNames names;
  const std::size_t before = names.size();
  const ResourceId absent = names.InternAsked("example.com/fpga");
  EXPECT_TRUE(IsAbsent(absent));
  EXPECT_EQ(names.name(absent), "example.com/fpga");
  EXPECT_EQ(names.InternAsked("example.com/fpga"), absent);
  EXPECT_EQ(names.InternAsked("cpu"), kCpu);
  EXPECT_EQ(names.size(), before);
}

TEST(ResourceNames, ANameThatANodeBringsIsAbsentNoLonger) {
  ResourceNames names;
  const ResourceId absent = names.InternAsked("example.com/fpga");
  const std::uint64_t version = names.found_version();
  const ResourceId known = names.Intern("example.com/fpga");
  EXPECT_FALSE(IsAbsent(known));
  EXPECT_EQ(names.InternAsked("example.com/fpga"), known);
  EXPECT_EQ(names.name(absent), "example.com/fpga");  // for those that are not read again yet
  EXPECT_NE(names.found_version(), version);
}

TEST(ResourceNames, ForgetsAbsentNamesAndUsesTheirIdsAgain) {
  ResourceNames names;
  const ResourceId first = names.InternAsked("a");
  const ResourceId second = names.InternAsked("b");
  names.KeepAbsent({second});
  EXPECT_EQ(names.Find("a"), std::nullopt);
  EXPECT_EQ(names.Find("b"), second);
  EXPECT_EQ(names.absent_count(), 1U);
  EXPECT_EQ(names.InternAsked("c"), first);
  names.KeepAbsent({});
  EXPECT_EQ(names.absent_count(), 0U);
}

TEST(UnitOf, CountsBytesForMemoryAndWholePodsAndThousandthsElsewhere) {
  EXPECT_EQ(UnitOf("memory"), ResourceUnit::kByte);
  EXPECT_EQ(UnitOf("ephemeral-storage"), ResourceUnit::kByte);
  EXPECT_EQ(UnitOf("hugepages-2Mi"), ResourceUnit::kByte);
  EXPECT_EQ(UnitOf("pods"), ResourceUnit::kOne);
  EXPECT_EQ(UnitOf("cpu"), ResourceUnit::kMilli);
  EXPECT_EQ(UnitOf("nvidia.com/gpu"), ResourceUnit::kMilli);
}

TEST(Resources, AreEqualWhenTheirAmountsAreHoweverTheyCameAbout) {
  Resources a = Of(1, 2, 3);
  a.Sub(Of(0, 0, 3));
  EXPECT_EQ(a, Of(1, 2));
  a.Sub(Of(1, 2));
  EXPECT_EQ(a, Resources{});
}

TEST(Resources, AddUpAndGoBelowZero) {
  Resources a = Of(5, 1);
  a.Add(Of(0, 3, 4));
  EXPECT_EQ(a, Of(5, 4, 4));
  a.Sub(Of(6, 0));
  EXPECT_EQ(a.Get(kCpu), -1);
  a.ClampAtZero();
  EXPECT_EQ(a, Of(0, 4, 4));
}

TEST(Resources, FitWhereEveryAmountAskedForIsThere) {
  const std::vector<Amount> row = {1000, 64, 10};
  EXPECT_TRUE(Of(1000, 64).FitsIn(row));
  EXPECT_FALSE(Of(1001, 0).FitsIn(row));
  EXPECT_TRUE(Resources{}.FitsIn(row));
}

TEST(Resources, FitThoughSomethingTheyDoNotAskForIsOverdrawn) {
  const std::vector<Amount> row = {1000, -64, 10};
  EXPECT_TRUE(Of(1000, 0).FitsIn(row));
  EXPECT_FALSE(Of(1000, 1).FitsIn(row));
}

TEST(Resources, FitNowhereWhenTheyAskForWhatNobodyHas) {
  ResourceNames names;
  Resources gpu;
  gpu.Set(names.Intern("nvidia.com/gpu"), 1000);
  EXPECT_FALSE(gpu.FitsIn(std::vector<Amount>{1000, 64, 10}));
}

TEST(Resources, AreBestEffortWhenNothingButPodsIsAskedFor) {
  EXPECT_TRUE(Of(0, 0, 1).IsBestEffort());
  EXPECT_TRUE(Resources{}.IsBestEffort());
  EXPECT_FALSE(Of(1, 0, 1).IsBestEffort());
  EXPECT_FALSE(Of(0, 1).IsBestEffort());
}

TEST(Resources, OfWhatNoNodeHasAddUpAndFitNowhere) {
  constexpr auto kAbsent = IdAt<ResourceId>(kFirstAbsent + 7);
  Resources one = Of(1, 1);
  one.Set(kAbsent, 3);
  EXPECT_EQ(one.Get(kAbsent), 3);
  EXPECT_EQ(one.size(), Of(1, 1).size());
  EXPECT_FALSE(one.FitsIn(std::vector<Amount>{9, 9, 9}));
  Resources two = one;
  two.Add(one);
  EXPECT_EQ(two.Get(kAbsent), 6);
  two.Sub(one);
  EXPECT_EQ(two, one);
  two.Set(kAbsent, 0);
  EXPECT_EQ(two, Of(1, 1));
  EXPECT_FALSE(two.IsBestEffort());
}

TEST(Resources, SumsThatExceed64BitsStopAtTheLargestAmount) {
  constexpr Amount kMax = std::numeric_limits<Amount>::max();
  Resources sum = Of(1, kMax - 1);
  sum.AddSaturating(Of(2, 1), 3);
  EXPECT_EQ(sum, Of(7, kMax));
  sum.AddSaturating(Of(kMax, 0), 2);
  EXPECT_EQ(sum, Of(kMax, kMax));
}

TEST(WideResources, AreExactBeyond64Bits) {
  constexpr Amount kMax = std::numeric_limits<Amount>::max();
  WideResources sum;
  for (int i = 0; i < 3; ++i) sum.AddSigned(Of(kMax, 1), +1);
  EXPECT_EQ(sum.Clamped(), Of(kMax, 3));
  EXPECT_EQ(sum.Get(kCpu), 3 * static_cast<double>(kMax));
  for (int i = 0; i < 2; ++i) sum.AddSigned(Of(kMax, 1), -1);
  EXPECT_EQ(sum.Clamped(), Of(kMax, 1));
}

TEST(ResourceTable, KeepsItsAmountsWhileItGrowsInBothDirections) {
  ResourceTable table;
  table.Reserve(1, 2);
  table.Add(0, Of(7, 8));
  table.Reserve(3, 4);
  EXPECT_EQ(table.rows(), 3U);
  EXPECT_THAT(table[0], ElementsAre(7, 8, 0, 0));
  EXPECT_THAT(table[2], ElementsAre(0, 0, 0, 0));
  table.Reserve(2, 1);
  EXPECT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.stride(), 4U);
}

TEST(ResourceTable, ChangesOneRowAtATime) {
  ResourceTable table;
  table.Reserve(2, 2);
  table.Add(0, Of(5, 5));
  table.Add(1, Of(3, 3));
  table.Sub(1, Of(1, 2));
  table.AddRow(1, std::vector<Amount>{10});
  EXPECT_THAT(table[0], ElementsAre(5, 5));
  EXPECT_THAT(table[1], ElementsAre(12, 1));
  table.ClearRow(0);
  EXPECT_THAT(table[0], ElementsAre(0, 0));
  EXPECT_THAT(table[1], ElementsAre(12, 1));
}

}  // namespace
}  // namespace strata
