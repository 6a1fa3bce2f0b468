#include "report/text.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

using Align = TextTable::Align;

TEST(Text, AlignsColumnsAndLeavesNoSpacesAtTheEnd) {
  TextTable table({{"NAME"}, {"PODS", Align::kRight}, {"REASON"}});
  table.AddRow({{"a"}, {"12/12"}, {""}});
  table.AddRow({{"longer"}, {"0/4"}, {"NoRoom"}});
  EXPECT_EQ(table.Render({}),
            "NAME     PODS  REASON\n"
            "a       12/12\n"
            "longer    0/4  NoRoom\n");
}

TEST(Text, CountsCodePointsNotBytes) {
  TextTable table({{"TREE"}, {"N"}});
  table.AddRow({{"└─ a"}, {"1"}});
  EXPECT_EQ(table.Render({}), "TREE  N\n└─ a  1\n");
}

TEST(Text, PutsSentencesBelowTheirRow) {
  TextTable table({{"A"}});
  table.AddRow({{"x"}});
  table.AddText("  why\n");
  table.AddRow({{"y"}});
  EXPECT_EQ(table.Render({}), "A\nx\n  why\ny\n");
}

TEST(Text, ColoursDoNotMoveColumns) {
  TextTable table({{"A"}, {"B"}});
  table.AddRow({{"x", Ink::kGreen}, {"y"}});
  EXPECT_EQ(table.Render({.colour = true}),
            "\x1b[1mA\x1b[0m  \x1b[1mB\x1b[0m\n\x1b[32mx\x1b[0m  y\n");
}

TextTable WideTable() {
  TextTable table({{"NAME", Align::kLeft, 0, 4},
                   {"CPU", Align::kRight, 1},
                   {"FREE", Align::kRight, 1},
                   {"MEMBERS", Align::kLeft, 2}});
  table.AddRow({{"rack-überall"}, {"16"}, {"8"}, {"n0 n1 n2"}});
  return table;
}

TEST(Text, LeavesSpareColumnsOutWhereATableHasToFit) {
  const TextTable table = WideTable();
  EXPECT_EQ(table.Render({.colour = false, .width = 20}),
            "NAME          CPU  FREE  MEMBERS\nrack-überall   16     8  n0 n1 n2\n");
  EXPECT_EQ(table.Render({.colour = false, .width = 32, .fit = true}),
            "NAME          CPU  FREE\nrack-überall   16     8\n");
  EXPECT_EQ(table.Render({.colour = false, .width = 22, .fit = true}), "NAME\nrack-überall\n");
}

TEST(Text, CutsTheWidestCellsLast) {
  EXPECT_EQ(WideTable().Render({.colour = false, .width = 9, .fit = true}), "NAME\nrack-übe…\n");
  EXPECT_EQ(WideTable().Render({.colour = false, .width = 1, .fit = true}), "NAME\nrac…\n");
}

TEST(Text, WrapsAtWordsBehindTheIndent) {
  EXPECT_EQ(Wrap("one two three", 2, {.colour = false, .width = 9}), "  one two\n  three\n");
  EXPECT_EQ(Wrap("extraordinarily long", 1, {.colour = false, .width = 6}),
            " extraordinarily\n long\n");
  EXPECT_EQ(Wrap("", 3, {}), "");
}

TEST(WrapLines, LeavesACommandWhole) {
  const TextStyle narrow{.colour = false, .width = 20};
  EXPECT_EQ(
      WrapLines({"  a sentence that is too long", "    kubectl uncordon n0 n1 n2 n3 n4"}, narrow),
      "  a sentence that is\n  too long\n    kubectl uncordon n0 n1 n2 n3 n4\n");
}

}  // namespace
}  // namespace strata
