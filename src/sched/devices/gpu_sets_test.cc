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

// "0-2,5".
std::string Ranges(const std::vector<std::size_t>& ascending) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(ascending[i]);
    if (last > i) text += "-" + std::to_string(ascending[last]);
    i = last + 1;
  }
  return text;
}

// "0 (0)  2-3 (250) ..." for 1 GPU, 2 GPUs and so on.
std::string Golden(const GpuMachine& machine) {
  const PairScores scores = machine.links.Scores();
  std::vector<std::string> parts;
  for (std::size_t count = 1; count <= scores.size(); ++count) {
    const GpuSet set = BestGpuSet(scores, All(scores.size()), count);
    EXPECT_TRUE(set.proven);
    EXPECT_EQ(set.score, SumOfPairs(scores, set.members));
    parts.push_back(fmt::format("{} ({})", Ranges(set.members), set.score));
  }
  return fmt::format("{}", fmt::join(parts, "  "));
}

TEST(BestGpuSet, IsBestOnEveryMachineForEverySize) {
  const std::map<std::string, std::string> expected = {
      {"a100br4", "0 (0)  0-1 (1220)  0-2 (1240)  0-3 (2480)"},
      {"a100br4-degraded", "2 (0)  0-1 (1220)  0-2 (1240)  0-3 (1280)"},
      {"a100br8",
       "0 (0)  0,2 (1210)  0-2 (1230)  0-3 (2460)  0-4 (2500)  0-5 (3750)  0-6 (3810)  0-7 (5080)"},
      {"b200",
       "0 (0)  0-1 (1820)  0-2 (5460)  0-3 (10920)  0-4 (18160)  0-5 (27220)  0-6 (38100)  0-7 "
       "(50800)"},
      {"b200-degraded",
       "2 (0)  0-1 (1820)  0-1,3 (5460)  4-7 (10920)  0,4-7 (18160)  0-1,4-7 (27220)  0-1,3-7 "
       "(38100)  0-7 (38200)"},
      {"dgx1p",
       "0 (0)  0,2 (150)  0-2 (410)  0-3 (820)  0-4 (960)  0-4,6 (1250)  0-6 (1650)  0-7 (2200)"},
      {"dgx1v",
       "0 (0)  2-3 (250)  0,2-3 (610)  0-3 (1120)  0-4 (1360)  0-5 (1750)  0-6 (2250)  0-7 (3000)"},
      {"dgx2",
       "0 (0)  0-1 (620)  0-2 (1860)  0-3 (3720)  0-4 (6200)  0-5 (9300)  0-6 (13020)  0-7 (17360) "
       " 0-8 (22240)  0-9 (27740)  0-10 (33860)  0-11 (40600)  0-12 (47960)  0-13 (55940)  0-14 "
       "(64540)  0-15 (73760)"},
      {"dgxa100",
       "0 (0)  0-1 (1240)  0-2 (3660)  0-3 (7320)  0-4 (12160)  0-5 (18240)  0-6 (25500)  0-7 "
       "(34000)"},
      {"gb200tray", "0 (0)  0-1 (1810)  0-2 (5430)  0-3 (10860)"},
      {"h100x4-direct", "0 (0)  0-1 (610)  0-2 (1830)  0-3 (3660)"},
      {"h200",
       "0 (0)  0-1 (1820)  0-2 (5460)  0-3 (10920)  0-4 (18160)  0-5 (27220)  0-6 (38100)  0-7 "
       "(50800)"},
      {"h800",
       "0 (0)  0-1 (820)  0-2 (2460)  0-3 (4920)  0-4 (8160)  0-5 (12220)  0-6 (17100)  0-7 "
       "(22800)"},
      {"hgxh100",
       "0 (0)  0-1 (1820)  0-2 (5460)  0-3 (10920)  0-4 (18160)  0-5 (27220)  0-6 (38100)  0-7 "
       "(50800)"},
      {"nv4pairs",
       "0 (0)  0-1 (410)  0-2 (430)  0-3 (860)  0-4 (900)  0-5 (1350)  0-6 (1410)  0-7 (1880)"},
      {"nvl72", "0 (0)  0-1 (1810)  0-2 (5430)  0-3 (10860)"},
      {"pcie8", "0 (0)  0-1 (50)  0-2 (90)  0-3 (180)  0-4 (220)  0-5 (310)  0-6 (390)  0-7 (520)"},
      {"pcie8-phb",
       "0 (0)  0-1 (50)  0-2 (110)  0-3 (220)  0-4 (260)  0-5 (350)  0-6 (450)  0-7 (600)"},
      {"pcie8-root",
       "0 (0)  0-1 (40)  0-2 (80)  0-3 (160)  0-4 (200)  0-5 (280)  0-6 (360)  0-7 (480)"},
      {"rtx8000x4", "0 (0)  0,3 (210)  0-2 (240)  0-3 (480)"},
      {"t4x4", "0 (0)  0-1 (20)  0-2 (40)  0-3 (80)"},
  };
  std::map<std::string, std::string> found;
  for (const GpuMachine& machine : GpuMachines()) found[machine.name] = Golden(machine);
  EXPECT_EQ(found, expected);
}

TEST(BestGpuSet, ForOneGpuTakesTheOneThatDoesLeastDamage) {
  //  free: 0 - 3 (NV2), 6 alone
  EXPECT_THAT(BestGpuSet(ScoresOf("dgx1v"), std::vector<std::size_t>{0, 3, 6}, 1).members,
              ElementsAre(6));
}

TEST(BestGpuSet, BreaksTiesByTheBestSetLeftFree) {
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
    for (std::size_t j = 0; j < size; ++j) {
      directed[i * size + j] = i / group == j / group ? 100 : 10;
    }
  }
  return {size, directed};
}

TEST(BestGpuSet, BeyondSixteenIsProvenWhereTheBoundIsTight) {
  const GpuSet set = BestGpuSet(Groups(48, 6), All(48), 6);
  EXPECT_THAT(set.members, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_TRUE(set.proven);
}

TEST(BestGpuSet, BeyondSixteenReportsASearchThatWasCutOff) {
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

TEST(BestGpuSet, FindsAGoodSetOfAHundredGpus) {
  const GpuSet set = BestGpuSet(Groups(100, 4), All(100), 4);
  EXPECT_EQ(set.score, 600);
  EXPECT_FALSE(set.proven);
  EXPECT_TRUE(BestGpuSet(Groups(100, 4), All(100), 100).proven);
}

}  // namespace
}  // namespace strata
