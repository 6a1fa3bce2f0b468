#include "model/budget_table.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

BudgetSpec Selecting(const std::string& name, const std::string& app) {
  BudgetSpec spec;
  spec.name = name;
  spec.selector = LabelSelector{{{"app", SelectorOp::kIn, {app}}}};
  return spec;
}

TEST(BudgetTable, PodsOfTheSameBudgetsAreOneGroup) {
  BudgetTable table;
  EXPECT_TRUE(table.Upsert(Selecting("ns/web", "web")));
  BudgetSpec all;
  all.name = "ns/all";
  all.selector = LabelSelector{};
  EXPECT_TRUE(table.Upsert(all));
  const auto web = table.GroupOf("ns", {{"app", "web"}});
  EXPECT_EQ(table.GroupOf("ns", {{"app", "web"}, {"more", "x"}}), web);
  EXPECT_EQ(table.In(web).size(), 2U);
  EXPECT_EQ(table.In(table.GroupOf("ns", {})).size(), 1U) << "an empty selector means all";
  EXPECT_EQ(table.GroupOf("other", {{"app", "web"}}), 0U);
}

TEST(BudgetTable, WithoutASelectorABudgetSelectsNobody) {
  BudgetTable table;
  BudgetSpec none;
  none.name = "ns/none";
  table.Upsert(none);
  EXPECT_EQ(table.GroupOf("ns", {{"app", "web"}}), 0U);
}

TEST(BudgetTable, ARemovedBudgetIsInNoGroup) {
  BudgetTable table;
  table.Upsert(Selecting("ns/web", "web"));
  const auto web = table.GroupOf("ns", {{"app", "web"}});
  EXPECT_TRUE(table.Remove("ns/web"));
  EXPECT_FALSE(table.Remove("ns/web"));
  EXPECT_TRUE(table.In(web).empty());
}

TEST(BudgetTable, AnEvictionIsChargedUntilTheStatusChanges) {
  BudgetTable table;
  BudgetSpec web = Selecting("ns/web", "web");
  web.allowed = 2;
  table.Upsert(web);
  table.Charge(table.GroupOf("ns", {{"app", "web"}}));
  EXPECT_EQ(table.AllowedBy(table.all().at("ns/web")), 1);
  EXPECT_FALSE(table.Upsert(web)) << "the same again says nothing new";
  EXPECT_EQ(table.AllowedBy(table.all().at("ns/web")), 1);
  web.allowed = 1;
  table.Upsert(web);
  EXPECT_EQ(table.AllowedBy(table.all().at("ns/web")), 1);
}

TEST(BudgetSpec, CountsHowManyHaveToBeHealthy) {
  BudgetSpec spec;
  EXPECT_EQ(spec.Desired(5), 0);
  spec.min_available = BudgetSpec::Amount{.number = 3};
  EXPECT_EQ(spec.Desired(5), 3);
  spec.min_available = BudgetSpec::Amount{.number = 50, .percent = true};
  EXPECT_EQ(spec.Desired(5), 3) << "rounded up";
  spec.min_available.reset();
  spec.max_unavailable = BudgetSpec::Amount{.number = 1};
  EXPECT_EQ(spec.Desired(5), 4);
  spec.max_unavailable = BudgetSpec::Amount{.number = 30, .percent = true};
  EXPECT_EQ(spec.Desired(5), 3) << "two of five, rounded up";
}

}  // namespace
}  // namespace strata
