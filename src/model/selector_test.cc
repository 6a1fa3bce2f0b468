#include "model/selector.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

Requirement Need(std::string key, SelectorOp op, std::vector<std::string> values = {}) {
  return {.key = std::move(key), .op = op, .values = std::move(values)};
}

const Labels& RackA() {
  static const Labels labels = {{"rack", "a"}, {"gpus", "8"}, {"zone", ""}, {"model", "h100"}};
  return labels;
}

TEST(Requirement, InHoldsForOneOfTheValuesOfAPresentLabel) {
  EXPECT_TRUE(Need("rack", SelectorOp::kIn, {"a", "b"}).Matches(RackA()));
  EXPECT_FALSE(Need("rack", SelectorOp::kIn, {"b", "c"}).Matches(RackA()));
  EXPECT_FALSE(Need("absent", SelectorOp::kIn, {""}).Matches(RackA()));
  EXPECT_TRUE(Need("zone", SelectorOp::kIn, {""}).Matches(RackA()));
}

TEST(Requirement, NotInHoldsForAnAbsentLabel) {
  EXPECT_TRUE(Need("absent", SelectorOp::kNotIn, {"a"}).Matches(RackA()));
  EXPECT_TRUE(Need("rack", SelectorOp::kNotIn, {"b"}).Matches(RackA()));
  EXPECT_FALSE(Need("rack", SelectorOp::kNotIn, {"a", "b"}).Matches(RackA()));
}

TEST(Requirement, ExistsAndDoesNotExistLookAtTheKeyOnly) {
  EXPECT_TRUE(Need("zone", SelectorOp::kExists).Matches(RackA()));
  EXPECT_FALSE(Need("absent", SelectorOp::kExists).Matches(RackA()));
  EXPECT_FALSE(Need("zone", SelectorOp::kDoesNotExist).Matches(RackA()));
  EXPECT_TRUE(Need("absent", SelectorOp::kDoesNotExist).Matches(RackA()));
}

TEST(Requirement, GtAndLtCompareIntegersStrictly) {
  EXPECT_TRUE(Need("gpus", SelectorOp::kGt, {"7"}).Matches(RackA()));
  EXPECT_FALSE(Need("gpus", SelectorOp::kGt, {"8"}).Matches(RackA()));
  EXPECT_TRUE(Need("gpus", SelectorOp::kLt, {"10"}).Matches(RackA()));
  EXPECT_FALSE(Need("gpus", SelectorOp::kLt, {"8"}).Matches(RackA()));
  EXPECT_TRUE(Need("gpus", SelectorOp::kGt, {"-1"}).Matches(RackA()));
  EXPECT_TRUE(Need("gpus", SelectorOp::kLt, {"+9"}).Matches(RackA()));
}

TEST(Requirement, GtAndLtFailUnlessBothSidesAreIntegers) {
  EXPECT_FALSE(Need("model", SelectorOp::kGt, {"0"}).Matches(RackA()));
  EXPECT_FALSE(Need("gpus", SelectorOp::kGt, {"one"}).Matches(RackA()));
  EXPECT_FALSE(Need("gpus", SelectorOp::kGt, {"1.5"}).Matches(RackA()));
  EXPECT_FALSE(Need("gpus", SelectorOp::kGt, {"+-1"}).Matches(RackA()));
  EXPECT_FALSE(Need("gpus", SelectorOp::kGt, {}).Matches(RackA()));
  EXPECT_FALSE(Need("zone", SelectorOp::kLt, {"1"}).Matches(RackA()));
  EXPECT_FALSE(Need("absent", SelectorOp::kLt, {"1"}).Matches(RackA()));
  EXPECT_FALSE(Need("gpus", SelectorOp::kLt, {"9223372036854775808"}).Matches(RackA()));
}

TEST(Requirement, OnAValueKnowsThatItIsPresent) {
  EXPECT_TRUE(Need("metadata.name", SelectorOp::kIn, {"node0"}).MatchesValue("node0"));
  EXPECT_FALSE(Need("metadata.name", SelectorOp::kNotIn, {"node0"}).MatchesValue("node0"));
  EXPECT_TRUE(Need("metadata.name", SelectorOp::kExists).MatchesValue(""));
  EXPECT_FALSE(Need("metadata.name", SelectorOp::kDoesNotExist).MatchesValue(""));
}

TEST(LabelSelector, NeedsEveryRequirement) {
  const LabelSelector both = {
      {Need("rack", SelectorOp::kIn, {"a"}), Need("gpus", SelectorOp::kGt, {"4"})}};
  EXPECT_TRUE(both.Matches(RackA()));
  EXPECT_FALSE(both.Matches(Labels{{"rack", "a"}}));
  EXPECT_TRUE(LabelSelector{}.Matches(RackA()));
}

TEST(LabelSelector, MeansTheSameForANode) {
  const LabelSelector both = {
      {Need("rack", SelectorOp::kIn, {"a"}), Need("absent", SelectorOp::kNotIn, {"b"})}};
  EXPECT_TRUE(both.Matches(NodeLabels(RackA())));
  EXPECT_FALSE(both.Matches(NodeLabels{{"rack", "a"}, {"absent", "b"}}));
  EXPECT_FALSE(both.Matches(NodeLabels()));
}

TEST(LabelSelector, PrintsAsKubectlDoes) {
  const LabelSelector all = {{Need("app", SelectorOp::kIn, {"a", "b"}),
                              Need("gone", SelectorOp::kDoesNotExist),
                              Need("tier", SelectorOp::kIn, {"1"}),
                              Need("env", SelectorOp::kNotIn, {"dev", "test"}),
                              Need("zone", SelectorOp::kNotIn, {"z"}),
                              Need("here", SelectorOp::kExists),
                              Need("gpus", SelectorOp::kGt, {"4"}),
                              Need("cpus", SelectorOp::kLt, {"8"})}};
  EXPECT_EQ(ToString(all),
            "app in (a,b),!gone,tier=1,env notin (dev,test),zone!=z,here,gpus>4,cpus<8");
  EXPECT_EQ(ToString(LabelSelector{}), "<none>");
}

}  // namespace
}  // namespace strata
