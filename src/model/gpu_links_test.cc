#include "model/gpu_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/gpu_machines.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Row = std::vector<std::int32_t>;

GpuLink Link(std::int32_t nvlinks, PcieLevel level) {
  return {.pcie = level, .nvlinks = nvlinks};
}

PairScores ScoresOf(const std::string& machine) {
  return FindGpuMachine(machine)->links.Scores();
}

Row RowOf(const PairScores& scores, std::size_t i) {
  Row row;
  for (std::size_t j = 0; j < scores.size(); ++j) row.push_back(scores.Get(i, j));
  return row;
}

TEST(GpuLinkScore, AddsTheNvlinksToThePcieLevel) {
  EXPECT_EQ(ScoreOf(Link(0, PcieLevel::kSystem)), 10);
  EXPECT_EQ(ScoreOf(Link(0, PcieLevel::kNode)), 20);
  EXPECT_EQ(ScoreOf(Link(0, PcieLevel::kHostBridge)), 30);
  EXPECT_EQ(ScoreOf(Link(0, PcieLevel::kMultiSwitch)), 40);
  EXPECT_EQ(ScoreOf(Link(0, PcieLevel::kSingleSwitch)), 50);
  EXPECT_EQ(ScoreOf(Link(0, PcieLevel::kSameBoard)), 60);
  EXPECT_EQ(ScoreOf(Link(1, PcieLevel::kSystem)), 110);
  EXPECT_EQ(ScoreOf(Link(18, PcieLevel::kNode)), 1820);
}

TEST(GpuLinkScore, CountsNoNvlinksBeyondTheEndOfTheTable) {
  EXPECT_EQ(ScoreOf(Link(19, PcieLevel::kNode)), 20);
  EXPECT_EQ(ScoreOf(Link(36, PcieLevel::kSystem)), 10);
}

TEST(GpuLinkScore, IsUnknownWhereAPartIs) {
  EXPECT_EQ(ScoreOf({.pcie = PcieLevel::kUnknown, .nvlinks = 4}), std::nullopt);
  EXPECT_EQ(ScoreOf({.pcie = PcieLevel::kNode, .nvlinks = std::nullopt}), std::nullopt);
}

TEST(GpuLinkScore, CanBeReadBack) {
  EXPECT_EQ(DescribeScore(250), "NV2+PIX");
  EXPECT_EQ(DescribeScore(10), "SYS");
  EXPECT_EQ(DescribeScore(1820), "NV18+NODE");
  EXPECT_EQ(DescribeScore(-5), "-5");
  EXPECT_EQ(DescribeScore(1900), "1900");
  EXPECT_EQ(DescribeScore(271), "271");
}

TEST(PairScores, TakeTheLowerDirectionAndSayThatTheyDiffer) {
  const PairScores scores(2, {std::nullopt, 410, 210, std::nullopt});
  EXPECT_EQ(scores.Get(0, 1), 210);
  EXPECT_EQ(scores.Get(1, 0), 210);
  EXPECT_THAT(scores.asymmetric(), ElementsAre(Pair(0, 1)));
}

TEST(PairScores, CountAnUnknownPairAsTheWorstKnownOne) {
  //      0    1    2
  // 0    -   150   ?      (1 knows nothing of 2, 2 says 300 of 1)
  const std::vector<std::optional<std::int32_t>> directed = {
      {}, 150, {}, 150, {}, {}, 120, 300, {}};
  const PairScores scores(3, directed);
  EXPECT_EQ(RowOf(scores, 0), (Row{0, 150, 150}));
  EXPECT_EQ(RowOf(scores, 1), (Row{150, 0, 150}));
  EXPECT_THAT(scores.unknown(), ElementsAre(Pair(0, 2), Pair(1, 2)));
  EXPECT_FALSE(scores.IsKnown(2, 0));
  EXPECT_TRUE(scores.IsKnown(1, 0));
}

TEST(PairScores, AreAllEqualWhereNoneIsKnown) {
  const PairScores scores(3, std::vector<std::optional<std::int32_t>>(9));
  EXPECT_EQ(RowOf(scores, 1), (Row{0, 0, 0}));
  EXPECT_EQ(scores.unknown().size(), 3U);
}

TEST(GpuMachines, TheHybridCubeMeshScoresAsItsTableSays) {
  const PairScores v = ScoresOf("dgx1v");
  EXPECT_EQ(RowOf(v, 0), (Row{0, 150, 130, 230, 210, 10, 10, 10}));
  EXPECT_EQ(RowOf(v, 1), (Row{150, 0, 230, 130, 10, 210, 10, 10}));
  EXPECT_EQ(RowOf(v, 2), (Row{130, 230, 0, 250, 10, 10, 110, 10}));
  EXPECT_EQ(RowOf(v, 3), (Row{230, 130, 250, 0, 10, 10, 10, 110}));
  EXPECT_EQ(RowOf(v, 4), (Row{210, 10, 10, 10, 0, 150, 130, 230}));
  EXPECT_EQ(RowOf(v, 5), (Row{10, 210, 10, 10, 150, 0, 230, 130}));
  EXPECT_EQ(RowOf(v, 6), (Row{10, 10, 110, 10, 130, 230, 0, 250}));
  EXPECT_EQ(RowOf(v, 7), (Row{10, 10, 10, 110, 230, 130, 250, 0}));
  EXPECT_EQ(RowOf(ScoresOf("dgx1p"), 0), (Row{0, 130, 150, 130, 110, 10, 10, 10}));
  EXPECT_EQ(RowOf(ScoresOf("dgx1p"), 5), (Row{10, 110, 10, 10, 130, 0, 130, 150}));
}

TEST(GpuMachines, SwitchedMachinesDifferOnlyByPcie) {
  EXPECT_EQ(RowOf(ScoresOf("dgxa100"), 2), (Row{1210, 1210, 0, 1240, 1210, 1210, 1210, 1210}));
  EXPECT_EQ(RowOf(ScoresOf("hgxh100"), 5), (Row{1810, 1810, 1810, 1810, 1820, 0, 1820, 1820}));
  EXPECT_EQ(RowOf(ScoresOf("h200"), 0), RowOf(ScoresOf("hgxh100"), 0));
  EXPECT_EQ(RowOf(ScoresOf("b200"), 0), RowOf(ScoresOf("hgxh100"), 0));
  EXPECT_EQ(RowOf(ScoresOf("h800"), 0), (Row{0, 820, 820, 820, 810, 810, 810, 810}));
  EXPECT_EQ(ScoresOf("dgx2").size(), 16U);
  EXPECT_EQ(ScoresOf("dgx2").Get(0, 7), 620);
  EXPECT_EQ(ScoresOf("dgx2").Get(7, 8), 610);
  EXPECT_EQ(RowOf(ScoresOf("gb200tray"), 1), (Row{1810, 0, 1810, 1810}));
  EXPECT_TRUE(FindGpuMachine("nvl72")->has_clique);
  EXPECT_EQ(RowOf(ScoresOf("b200-degraded"), 2), (Row{20, 20, 0, 20, 10, 10, 10, 10}));
  EXPECT_EQ(RowOf(ScoresOf("b200-degraded"), 0), (Row{0, 1820, 20, 1820, 1810, 1810, 1810, 1810}));
}

TEST(GpuMachines, BridgesJoinPairs) {
  EXPECT_EQ(RowOf(ScoresOf("a100br4"), 0), (Row{0, 1220, 10, 10}));
  EXPECT_EQ(RowOf(ScoresOf("a100br4-degraded"), 2), (Row{10, 10, 0, 20}));
  EXPECT_EQ(RowOf(ScoresOf("a100br4-degraded"), 0), (Row{0, 1220, 10, 10}));
  EXPECT_EQ(RowOf(ScoresOf("a100br8"), 0), (Row{0, 10, 1210, 10, 10, 10, 10, 10}));
  EXPECT_EQ(RowOf(ScoresOf("nv4pairs"), 3), (Row{10, 10, 410, 0, 10, 10, 10, 10}));
  EXPECT_EQ(RowOf(ScoresOf("rtx8000x4"), 0), (Row{0, 20, 10, 210}));
  EXPECT_EQ(RowOf(ScoresOf("h100x4-direct"), 3), (Row{610, 610, 610, 0}));
}

TEST(GpuMachines, PcieBoxesHaveNoNvlinks) {
  EXPECT_EQ(RowOf(ScoresOf("pcie8"), 0), (Row{0, 50, 20, 20, 10, 10, 10, 10}));
  EXPECT_EQ(RowOf(ScoresOf("pcie8-phb"), 0), (Row{0, 50, 30, 30, 10, 10, 10, 10}));
  EXPECT_EQ(RowOf(ScoresOf("pcie8-root"), 7), (Row{10, 10, 10, 10, 20, 20, 40, 0}));
  EXPECT_EQ(RowOf(ScoresOf("t4x4"), 0), (Row{0, 20, 10, 10}));
}

TEST(NvlinkIslands, AreTheConnectedPartsOfWhatIsFree) {
  const PairScores mesh = ScoresOf("dgx1v");
  EXPECT_THAT(NvlinkIslands(mesh, {0, 4, 5}), ElementsAre(ElementsAre(0, 4, 5)));
  EXPECT_THAT(NvlinkIslands(mesh, {0, 6, 7}), ElementsAre(ElementsAre(0), ElementsAre(6, 7)));
  EXPECT_THAT(NvlinkIslands(ScoresOf("pcie8"), {3, 4}),
              ElementsAre(ElementsAre(3), ElementsAre(4)));
  EXPECT_THAT(NvlinkIslands(mesh, {}), IsEmpty());
}

}  // namespace
}  // namespace strata
