#include "model/resources.h"

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
