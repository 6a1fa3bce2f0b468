#include "model/node_labels.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<NodeLabels::Entry> Entries(const NodeLabels& labels) {
  std::vector<NodeLabels::Entry> entries;
  for (const NodeLabels::Entry& entry : labels) entries.push_back(entry);
  return entries;
}

TEST(NodeLabels, AreReadInTheOrderOfTheirKeys) {
  const NodeLabels labels = {{"zone", "a"}, {"empty", ""}, {"kubernetes.io/hostname", "node0"}};
  EXPECT_THAT(
      Entries(labels),
      ElementsAre(Pair("empty", ""), Pair("kubernetes.io/hostname", "node0"), Pair("zone", "a")));
}

TEST(NodeLabels, AreFoundByTheWholeKey) {
  const NodeLabels labels = {{"rack", "r1"}, {"rack-b", ""}};
  ASSERT_NE(labels.find("rack"), labels.end());
  EXPECT_EQ(labels.find("rack")->second, "r1");
  EXPECT_EQ(labels.find("rack-b")->second, "");
  EXPECT_FALSE(labels.contains("rac"));
  EXPECT_FALSE(labels.contains("r1"));
  EXPECT_FALSE(labels.contains(""));
}

TEST(NodeLabels, WithoutAnyThereIsNothingToFind) {
  EXPECT_THAT(Entries(NodeLabels()), IsEmpty());
  EXPECT_FALSE(NodeLabels().contains("rack"));
  EXPECT_EQ(NodeLabels(), NodeLabels(Labels{}));
}

TEST(NodeLabels, AreEqualWhenTheySayTheSame) {
  const NodeLabels labels = {{"a", "bc"}};
  EXPECT_EQ(labels, (NodeLabels{{"a", "bc"}}));
  EXPECT_NE(labels, (NodeLabels{{"ab", "c"}}));
  EXPECT_NE(labels, NodeLabels());
}

}  // namespace
}  // namespace strata
