#include "report/tree_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::ElementsAre;

struct Row {
  std::string name;
  std::string label;
  std::size_t depth = 0;
  bool last = false;
};

std::vector<Row> Rows() {
  return {{"top", "", 0},
          {"spine-0", "", 1},
          {"rack-0", "r0", 2},
          {"rack-1", "r1", 2},
          {"spine-1", "", 1},
          {"rack-2", "r2", 2},
          {"n0", "", 1}};
}

std::vector<std::string> Drawn(const std::vector<Row>& rows) {
  TreeBranches branches;
  std::vector<std::string> lines;
  for (const Row& row : rows) lines.push_back(branches.Next(row) + row.name);
  return lines;
}

TEST(TreeRows, AreDrawnWithTheBranchesOfTheirParents) {
  std::vector<Row> rows = Rows();
  MarkLast(rows);
  EXPECT_THAT(Drawn(rows),
              ElementsAre("top",
                          "├─ spine-0",
                          "│  ├─ rack-0",
                          "│  └─ rack-1",
                          "├─ spine-1",
                          "│  └─ rack-2",
                          "└─ n0"));
}

TEST(TreeRows, UnderANameOrLabelAreWhatIsBelowIt) {
  std::vector<Row> rows = Rows();
  ASSERT_TRUE(KeepUnder("spine-0", rows));
  MarkLast(rows);
  EXPECT_THAT(Drawn(rows), ElementsAre("spine-0", "├─ rack-0", "└─ rack-1"));
  rows = Rows();
  ASSERT_TRUE(KeepUnder("r2", rows));
  EXPECT_THAT(Drawn(rows), ElementsAre("rack-2"));
}

TEST(TreeRows, AnUnknownNameIsAnErrorWithSimilarOnes) {
  std::vector<Row> rows = Rows();
  EXPECT_EQ(KeepUnder("rack-9", rows).error().message,
            "--under rack-9: there is no such HyperNode; similar names: rack-0, rack-1, rack-2");
  EXPECT_EQ(rows.size(), 7U);
}

TEST(TreeRows, AsManyLevelsAsFit) {
  std::vector<Row> rows = Rows();
  EXPECT_EQ(DepthOfAtMost(7, rows), 2U);
  EXPECT_EQ(DepthOfAtMost(6, rows), 1U);
  EXPECT_EQ(DepthOfAtMost(1, rows), 1U);
  EXPECT_EQ(CutBelow(1, rows), 3U);
  EXPECT_EQ(rows.size(), 4U);
  EXPECT_EQ(HiddenRows(0, 1), "");
  EXPECT_EQ(HiddenRows(3, 1),
            "3 rows below this depth: --depth 2 shows the next level, --under NAME a part of the "
            "tree.\n");
}

}  // namespace
}  // namespace strata
