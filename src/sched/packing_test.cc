#include "sched/packing.h"

#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/gang_search.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kManySteps = 10000;

// Nodes with free cores, and kinds of pods that ask for cores; each node takes any kind.
PackingProblem ProblemOfCores(const std::vector<Amount>& nodes, const std::vector<Amount>& kinds) {
  PackingProblem problem;
  problem.requests.reserve(kinds.size());
  for (const Amount request : kinds) problem.requests.push_back({request});
  for (const Amount free : nodes) {
    PackingProblem::Node& node = problem.nodes.emplace_back();
    node.free = {free};
    node.slots.reserve(kinds.size());
    for (const Amount request : kinds) {
      node.slots.push_back(static_cast<std::uint32_t>(free / request));
    }
  }
  return problem;
}

TEST(Packing, TakesALargePodBackFromTheNodeThatTwoOthersNeed) {
  const PackingProblem problem = ProblemOfCores({4, 3}, {3, 2});
  StepBudget budget(kManySteps);
  const auto places = Packing(problem, budget).Solve({1, 2});
  ASSERT_TRUE(places);
  EXPECT_THAT(*places, ElementsAre(ElementsAre(0, 2), ElementsAre(1, 0)));
}

TEST(Packing, FindsNothingWhereTheSumFitsButThePodsDoNot) {
  const PackingProblem problem = ProblemOfCores({3, 3}, {2});
  StepBudget budget(kManySteps);
  EXPECT_FALSE(Packing(problem, budget).Solve({3}));
  EXPECT_FALSE(budget.cut());
}

TEST(Packing, LeavesANodeOutThatTakesNoneOfAKind) {
  PackingProblem problem = ProblemOfCores({4, 4}, {2, 2});
  problem.nodes[0].slots = {0, 2};
  StepBudget budget(kManySteps);
  const auto places = Packing(problem, budget).Solve({2, 2});
  ASSERT_TRUE(places);
  EXPECT_THAT(*places, ElementsAre(ElementsAre(0, 2), ElementsAre(2, 0)));
}

TEST(Packing, EndsWithoutAnAnswerWhenTheBudgetIsUsedUp) {
  const PackingProblem problem = ProblemOfCores({4, 3}, {3, 2});
  StepBudget budget(2);
  EXPECT_FALSE(Packing(problem, budget).Solve({1, 2}));
  EXPECT_TRUE(budget.cut());
}

TEST(StepBudget, SpendsNothingMoreOnceSomethingWasTooMuch) {
  StepBudget budget(3);
  EXPECT_TRUE(budget.Spend(2));
  EXPECT_FALSE(budget.Spend(2));
  EXPECT_FALSE(budget.Spend(1));
  EXPECT_EQ(budget.spent(), 2U);
}

}  // namespace
}  // namespace strata
