#include "sched/plugins/numa_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::Optional;

constexpr auto kOneNumaNode = NumaPolicy::kSingleNumaNode;

// NUMA nodes of eight CPUs.
std::vector<NumaCell> Eights(std::size_t count) {
  return std::vector<NumaCell>(count, NumaCell{.cpus = 8, .free = 8});
}

NumaSpec NodeOf(NumaPolicy policy, std::vector<NumaCell> cells) {
  return {.policy = policy, .static_cpus = true, .cells = std::move(cells)};
}

TEST(NumaFit, SingleNumaNodeTakesTheFirstThatHasAll) {
  std::vector<std::int32_t> free{3, 6, 8};
  EXPECT_TRUE(TakeCpus(kOneNumaNode, Eights(3), 4, free));
  EXPECT_THAT(free, ElementsAre(3, 2, 8));
}

TEST(NumaFit, SingleNumaNodeRejectsWhatNeedsTwo) {
  std::vector<std::int32_t> free{3, 3};
  EXPECT_FALSE(TakeCpus(kOneNumaNode, Eights(2), 4, free));
  EXPECT_FALSE(TakeCpus(kOneNumaNode, Eights(2), 16, free)) << "more than any of them has";
  EXPECT_THAT(free, ElementsAre(3, 3));
}

TEST(NumaFit, ANodeWithoutReportedNumaNodesAlignsNoPod) {
  std::vector<std::int32_t> free;
  EXPECT_FALSE(TakeCpus(kOneNumaNode, {}, 3, free));
  EXPECT_FALSE(TakeCpus(NumaPolicy::kRestricted, {}, 3, free));
}

TEST(NumaFit, RestrictedAllowsTwoOnlyWhereOneCouldNeverDo) {
  std::vector<std::int32_t> free{8, 4};
  EXPECT_TRUE(TakeCpus(NumaPolicy::kRestricted, Eights(2), 12, free));
  EXPECT_THAT(free, ElementsAre(0, 0));
  free = {3, 3};
  EXPECT_FALSE(TakeCpus(NumaPolicy::kRestricted, Eights(2), 4, free))
      << "an empty NUMA node would hold it";
  free = {4, 4};
  EXPECT_FALSE(TakeCpus(NumaPolicy::kRestricted, Eights(2), 12, free));
}

TEST(NumaFit, BestEffortTakesTheFewestNumaNodesAndRejectsNoPod) {
  std::vector<std::int32_t> free{2, 3, 3};
  EXPECT_TRUE(TakeCpus(NumaPolicy::kBestEffort, Eights(3), 6, free));
  EXPECT_THAT(free, ElementsAre(2, 0, 0));
  EXPECT_TRUE(TakeCpus(NumaPolicy::kBestEffort, Eights(3), 6, free));
  EXPECT_THAT(free, ElementsAre(0, 0, 0)) << "what there is";
}

TEST(NumaFit, OfEquallyFewNumaNodesThoseWithTheLowerNumbersAreTaken) {
  std::vector<std::int32_t> free{8, 8, 8, 8};
  EXPECT_TRUE(TakeCpus(NumaPolicy::kRestricted, Eights(4), 10, free));
  EXPECT_THAT(free, ElementsAre(0, 6, 8, 8));
  free = {8, 1, 8, 2};
  EXPECT_TRUE(TakeCpus(NumaPolicy::kBestEffort, Eights(4), 10, free));
  EXPECT_THAT(free, ElementsAre(0, 1, 6, 2)) << "{0, 2}: {0, 1} has only nine";
}

TEST(NumaFit, TheContainersOfAPodAreAlignedOneByOne) {
  std::vector<std::int32_t> free{8, 8};
  EXPECT_THAT(
      TakePod(NodeOf(kOneNumaNode, Eights(2)), {.policy = kOneNumaNode, .cpus = {6, 6}}, free),
      Optional(2));
  EXPECT_THAT(free, ElementsAre(2, 2));
}

TEST(NumaFit, APodWithARejectedContainerTakesNothing) {
  std::vector<std::int32_t> free{8, 4};
  EXPECT_THAT(
      TakePod(NodeOf(kOneNumaNode, Eights(2)), {.policy = kOneNumaNode, .cpus = {6, 6}}, free),
      Eq(std::nullopt));
  EXPECT_THAT(free, ElementsAre(8, 4));
}

TEST(NumaFit, DistinguishesNumaNodesOfDifferentSizes) {
  const std::vector<NumaCell> cells{{.cpus = 4, .free = 4}, {.cpus = 16, .free = 16}};
  std::vector<std::int32_t> free{4, 10};
  EXPECT_TRUE(TakeCpus(NumaPolicy::kRestricted, cells, 10, free));
  EXPECT_THAT(free, ElementsAre(4, 0));
  free = {4, 10};
  EXPECT_FALSE(TakeCpus(NumaPolicy::kRestricted, cells, 12, free)) << "the second could hold it";
}

}  // namespace
}  // namespace strata
