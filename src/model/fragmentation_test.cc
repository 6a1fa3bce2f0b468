#include "model/fragmentation.h"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace strata {
namespace {

std::int64_t Unusable(const GpuAsk& pod, Amount cpu, const std::vector<std::int32_t>& idle) {
  std::int64_t sum = 0;
  for (const std::int32_t gpu : idle) sum += gpu;
  return UnusableFor(pod, {.cpu_milli = cpu, .gpus = idle, .sum = sum});
}

TEST(UnusableFor, CountsWhatIsIdleOnGpusWithTooLittle) {
  const std::vector<std::int32_t> idle = {1000, 500, 300, 0};
  EXPECT_EQ(Unusable({.cpu_milli = 1, .gpus = 1, .milli = 500}, 8000, idle), 300);
  EXPECT_EQ(Unusable({.cpu_milli = 1, .gpus = 1, .milli = 1000}, 8000, idle), 800);
}

TEST(UnusableFor, CountsAllWhereThePodFindsNoPlace) {
  const std::vector<std::int32_t> idle = {1000, 500, 300, 0};
  EXPECT_EQ(Unusable({.cpu_milli = 1, .gpus = 2, .milli = 1000}, 8000, idle), 1800);
  EXPECT_EQ(Unusable({.cpu_milli = 8001, .gpus = 1, .milli = 100}, 8000, idle), 1800);
  EXPECT_EQ(Unusable({.cpu_milli = 1, .gpus = 0, .milli = 0}, 8000, idle), 1800);
}

TEST(WholeFgdScore, IsTheRoundedSigmoidOfTheGain) {
  for (std::int64_t gained = -9000; gained <= 9000; gained += 7) {
    const double exact = 100 / (1 + std::exp(-static_cast<double>(gained) / 1000));
    EXPECT_EQ(WholeFgdScore(gained, 1), static_cast<std::int64_t>(exact)) << gained;
    EXPECT_EQ(WholeFgdScore(gained * 12, 12), static_cast<std::int64_t>(exact)) << gained;
  }
}

TEST(FreeSlots, OfTwoRacksTakeFewerGangsThanTogether) {
  const std::array<std::int64_t, 3> slots = {7, 5, 0};
  EXPECT_EQ(PlaceableGangs(slots, 1), 12);
  EXPECT_EQ(PlaceableGangs(slots, 4), 2);
  EXPECT_EQ(PlaceableGangs(slots, 8), 0);
  EXPECT_DOUBLE_EQ(RackLoss(slots, 4), 4.0 / 12);
  EXPECT_DOUBLE_EQ(RackLoss(slots, 8), 1);
  EXPECT_DOUBLE_EQ(RackLoss({}, 4), 0);
}

TEST(Gini, IsZeroWhereAllHaveAsManyAndNearOneWhereOneHasAll) {
  EXPECT_DOUBLE_EQ(Gini({3, 3, 3, 3}), 0);
  EXPECT_DOUBLE_EQ(Gini({0, 0, 0, 8}), 0.75);
  EXPECT_DOUBLE_EQ(Gini({3, 1}), 0.25);
  EXPECT_DOUBLE_EQ(Gini({0, 0}), 0);
  EXPECT_DOUBLE_EQ(Gini({}), 0);
}

TEST(StrandedShare, IsAPartOfWhatIsFree) {
  EXPECT_DOUBLE_EQ(StrandedShare(3, 12), 0.25);
  EXPECT_DOUBLE_EQ(StrandedShare(0, 0), 0);
}

}  // namespace
}  // namespace strata
