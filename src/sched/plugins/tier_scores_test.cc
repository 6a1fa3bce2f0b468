#include "sched/plugins/tier_scores.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(NearnessOfTier, FallsFromTheLowestTierToTheHighest) {
  EXPECT_DOUBLE_EQ(NearnessOfTier(1, 1, 4), 1);
  EXPECT_DOUBLE_EQ(NearnessOfTier(2, 1, 4), 2.0 / 3);
  EXPECT_DOUBLE_EQ(NearnessOfTier(3, 1, 4), 1.0 / 3);
  EXPECT_DOUBLE_EQ(NearnessOfTier(4, 1, 4), 0);
}

TEST(NearnessOfTier, IsZeroOutsideTheTiersInUseAndOneWhenThereIsOnlyOne) {
  EXPECT_DOUBLE_EQ(NearnessOfTier(0, 1, 4), 0);
  EXPECT_DOUBLE_EQ(NearnessOfTier(5, 1, 4), 0);
  EXPECT_DOUBLE_EQ(NearnessOfTier(1, 1, 1), 1);
}

TierWeights Weigh(const std::vector<std::int32_t>& tiers, double fading) {
  return WeighTiers(tiers, fading);
}

TEST(WeighTiers, FadesByTheDistanceFromTierOne) {
  const TierWeights weights = Weigh({1, 2, 3, 4}, 0.8);
  EXPECT_THAT(weights.of_tier,
              ElementsAre(1.0, 0.8, DoubleNear(0.64, 1e-12), DoubleNear(0.512, 1e-12)));
  EXPECT_DOUBLE_EQ(weights.between, 0);
  EXPECT_NEAR(weights.total, 2.952, 1e-12);
}

TEST(WeighTiers, WithoutFadingAllTiersAreEqualAndWithFullFadingOnlyTierOneCounts) {
  EXPECT_THAT(Weigh({1, 2, 3}, 1).of_tier, ElementsAre(1.0, 1.0, 1.0));
  EXPECT_THAT(Weigh({1, 2, 3}, 0).of_tier, ElementsAre(1.0, 0.0, 0.0));
}

TEST(WeighTiers, TierZeroWeighsAsMuchAsTierOne) {
  EXPECT_THAT(Weigh({0, 1, 2}, 0.5).of_tier, ElementsAre(1.0, 1.0, 0.5));
  EXPECT_DOUBLE_EQ(Weigh({0, 3}, 0.5).between, 1 + 0.5);
}

TEST(WeighTiers, NumbersBetweenTheTiersHaveWeightToo) {
  const TierWeights weights = Weigh({1, 4, 6}, 0.5);  // 1 (1/2 1/4) 1/8 (1/16) 1/32
  EXPECT_DOUBLE_EQ(weights.between, 0.5 + 0.25 + 0.0625);
  EXPECT_DOUBLE_EQ(weights.total, 2 - 1.0 / 32);
}

TEST(WeighTiers, LongGapsAreSummedAtOnceAndAgreeWithTheWalk) {
  double walked = 0;
  double weight = 1;
  for (int tier = 2; tier < 1000; ++tier) walked += weight *= 0.999;
  const TierWeights weights = Weigh({1, 1000}, 0.999);
  EXPECT_NEAR(weights.between, walked, 1e-9);
  EXPECT_NEAR(weights.of_tier[1], weight * 0.999, 1e-12);
  constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::max();
  EXPECT_DOUBLE_EQ(Weigh({1, kFar}, 1).total, kFar);
}

TEST(WeighTiers, WeightsWithoutMeaningHaveNoTotal) {
  EXPECT_DOUBLE_EQ(Weigh({2, 3}, 0).total, 0);
  EXPECT_DOUBLE_EQ(Weigh({1, 100'000}, 1000).total, 0);
}

}  // namespace
}  // namespace strata
