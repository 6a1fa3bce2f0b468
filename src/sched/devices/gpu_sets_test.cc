#include "sched/devices/gpu_sets.h"

#include <map>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/gpu_machines.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

PairScores ScoresOf(const std::string& machine) {
  return FindGpuMachine(machine)->links.Scores();
}

std::vector<std::size_t> All(std::size_t size) {
  std::vector<std::size_t> all(size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// "1: 0 (0)  2: 2,3 (250) ..." for 1, 2, 4, 8 and 16 GPUs.
std::string Golden(const GpuMachine& machine) {
  const PairScores scores = machine.links.Scores();
  std::vector<std::string> parts;
  for (std::size_t count = 1; count <= scores.size(); count *= 2) {
    const GpuSet set = BestGpuSet(scores, All(scores.size()), count);
    EXPECT_TRUE(set.proven);
    EXPECT_EQ(set.score, SumOfPairs(scores, set.members));
    parts.push_back(fmt::format("{}: {} ({})", count, fmt::join(set.members, ","), set.score));
  }
  return fmt::format("{}", fmt::join(parts, "  "));
}

TEST(BestGpuSet, OfEveryMachineForEverySize) {
  const std::map<std::string, std::string> expected = {
      {"a100br4", "1: 0 (0)  2: 0,1 (1220)  4: 0,1,2,3 (2480)"},
      {"a100br4-degraded", "1: 2 (0)  2: 0,1 (1220)  4: 0,1,2,3 (1280)"},
      {"a100br8", "1: 0 (0)  2: 0,2 (1210)  4: 0,1,2,3 (2460)  8: 0,1,2,3,4,5,6,7 (5080)"},
      {"b200", "1: 0 (0)  2: 0,1 (1820)  4: 0,1,2,3 (10920)  8: 0,1,2,3,4,5,6,7 (50800)"},
      {"b200-degraded", "1: 2 (0)  2: 0,1 (1820)  4: 4,5,6,7 (10920)  8: 0,1,2,3,4,5,6,7 (38200)"},
      {"dgx1p", "1: 0 (0)  2: 0,2 (150)  4: 0,1,2,3 (820)  8: 0,1,2,3,4,5,6,7 (2200)"},
      {"dgx1v", "1: 0 (0)  2: 2,3 (250)  4: 0,1,2,3 (1120)  8: 0,1,2,3,4,5,6,7 (3000)"},
      {"dgx2",
       "1: 0 (0)  2: 0,1 (620)  4: 0,1,2,3 (3720)  8: 0,1,2,3,4,5,6,7 (17360)  16: "
       "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 (73760)"},
      {"dgxa100", "1: 0 (0)  2: 0,1 (1240)  4: 0,1,2,3 (7320)  8: 0,1,2,3,4,5,6,7 (34000)"},
      {"gb200tray", "1: 0 (0)  2: 0,1 (1810)  4: 0,1,2,3 (10860)"},
      {"h100x4-direct", "1: 0 (0)  2: 0,1 (610)  4: 0,1,2,3 (3660)"},
      {"h200", "1: 0 (0)  2: 0,1 (1820)  4: 0,1,2,3 (10920)  8: 0,1,2,3,4,5,6,7 (50800)"},
      {"h800", "1: 0 (0)  2: 0,1 (820)  4: 0,1,2,3 (4920)  8: 0,1,2,3,4,5,6,7 (22800)"},
      {"hgxh100", "1: 0 (0)  2: 0,1 (1820)  4: 0,1,2,3 (10920)  8: 0,1,2,3,4,5,6,7 (50800)"},
      {"nv4pairs", "1: 0 (0)  2: 0,1 (410)  4: 0,1,2,3 (860)  8: 0,1,2,3,4,5,6,7 (1880)"},
      {"nvl72", "1: 0 (0)  2: 0,1 (1810)  4: 0,1,2,3 (10860)"},
      {"pcie8", "1: 0 (0)  2: 0,1 (50)  4: 0,1,2,3 (180)  8: 0,1,2,3,4,5,6,7 (520)"},
      {"pcie8-phb", "1: 0 (0)  2: 0,1 (50)  4: 0,1,2,3 (220)  8: 0,1,2,3,4,5,6,7 (600)"},
      {"pcie8-root", "1: 0 (0)  2: 0,1 (40)  4: 0,1,2,3 (160)  8: 0,1,2,3,4,5,6,7 (480)"},
      {"rtx8000x4", "1: 0 (0)  2: 0,3 (210)  4: 0,1,2,3 (480)"},
      {"t4x4", "1: 0 (0)  2: 0,1 (20)  4: 0,1,2,3 (80)"},
  };
  std::map<std::string, std::string> found;
  for (const GpuMachine& machine : GpuMachines()) found[machine.name] = Golden(machine);
  EXPECT_EQ(found, expected);
}

TEST(BestGpuSet, OfOneIsTheGpuThatDoesLeastDamage) {
  //  free: 0 - 3 (NV2), 6 alone
  EXPECT_THAT(BestGpuSet(ScoresOf("dgx1v"), std::vector<std::size_t>{0, 3, 6}, 1).members,
              ElementsAre(6));
}

TEST(BestGpuSet, AmongEqualsLeavesTheMostBehind) {
  // On a PCIe box every pair below one switch is worth the same. With 1 taken, 0 has lost its
  // partner: any whole pair scores 50, and {4,5} or {6,7} leave less behind than {2,3}.
  const std::vector<std::size_t> free = {0, 2, 3, 4, 5, 6, 7};
  const PairScores scores = ScoresOf("pcie8");
  const GpuSet set = BestGpuSet(scores, free, 2);
  EXPECT_EQ(set.score, 50);
  EXPECT_THAT(set.members, ElementsAre(2, 3));
}

TEST(BestGpuSet, IsExactForSixteenAndSaysSoBeyond) {
  const PairScores scores = ScoresOf("dgx2");
  const GpuSet set = BestGpuSet(scores, All(16), 8);
  EXPECT_THAT(set.members, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_TRUE(set.proven);
}

// 48 GPUs in groups of 6 with links of 100 inside and 10 outside.
PairScores Groups(std::size_t size, std::size_t group) {
  std::vector<std::optional<std::int32_t>> directed(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j)
      directed[i * size + j] = i / group == j / group ? 100 : 10;
  }
  return {size, directed};
}

TEST(BestGpuSet, BeyondSixteenIsProvenWhereTheBoundIsTight) {
  const GpuSet set = BestGpuSet(Groups(48, 6), All(48), 6);
  EXPECT_THAT(set.members, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_TRUE(set.proven);
}

TEST(BestGpuSet, BeyondSixteenSaysWhenItGaveUp) {
  // Links without any order, so that no bound helps.
  std::vector<std::optional<std::int32_t>> directed(64 * 64);
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t j = 0; j < 64; ++j) {
      directed[i * 64 + j] = static_cast<std::int32_t>((i * 31 + j * 31 + i * j * 7) % 97);
    }
  }
  const PairScores scores(64, directed);
  const GpuSet set = BestGpuSet(scores, All(64), 32);
  EXPECT_EQ(set.members.size(), 32U);
  EXPECT_FALSE(set.proven);
  EXPECT_EQ(set.score, SumOfPairs(scores, set.members));
}

TEST(BestGpuSet, OfAHundredIsAGoodGuess) {
  const GpuSet set = BestGpuSet(Groups(100, 4), All(100), 4);
  EXPECT_EQ(set.score, 600);
  EXPECT_FALSE(set.proven);
  EXPECT_TRUE(BestGpuSet(Groups(100, 4), All(100), 100).proven);
}

}  // namespace
}  // namespace strata
