#include "sched/max_tree.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace strata {
namespace {

// The first of the best in [begin, end), by looking at all of them.
std::size_t FirstBest(const std::vector<Score>& scores, std::size_t begin, std::size_t end) {
  const auto from = scores.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto to = scores.begin() + static_cast<std::ptrdiff_t>(end);
  return static_cast<std::size_t>(std::max_element(from, to) - scores.begin());
}

void ExpectSameWinners(const MaxTree& tree, const std::vector<Score>& scores) {
  for (std::size_t begin = 0; begin < scores.size(); ++begin) {
    for (std::size_t end = begin + 1; end <= scores.size(); ++end) {
      ASSERT_EQ(tree.Best(begin, end), FirstBest(scores, begin, end))
          << "of " << scores.size() << " in [" << begin << ", " << end << ")";
    }
  }
}

TEST(MaxTree, TheFirstOfEqualScoresWins) {
  MaxTree tree;
  tree.Reset(std::vector<Score>{5, 7, 7, 1});
  EXPECT_EQ(tree.Best(0, 4), 1U);
  EXPECT_EQ(tree.Best(2, 4), 2U);
  tree.Update(0, 7);
  EXPECT_EQ(tree.Best(0, 4), 0U);
}

TEST(MaxTree, ARangeWithoutAnyScoreIsWonByItsFirst) {
  MaxTree tree;
  tree.Reset(std::vector<Score>{9, kNoScore, kNoScore});
  EXPECT_EQ(tree.Best(1, 3), 1U);
}

TEST(MaxTree, CanBeUsedAgainForFewerScores) {
  MaxTree tree;
  tree.Reset(std::vector<Score>(33, 9));
  tree.Reset(std::vector<Score>{1, 2, 3});
  ExpectSameWinners(tree, {1, 2, 3});
}

TEST(MaxTree, AgreesWithLookingAtEveryScoreThroughAnyUpdates) {
  std::mt19937 random(1);  // few values, so that ties are common
  const auto any_score = [&] {
    const auto value = static_cast<Score>(random() % 5);
    return value == 0 ? kNoScore : value;
  };
  for (std::size_t size = 1; size <= 35; ++size) {
    std::vector<Score> scores(size);
    for (Score& score : scores) score = any_score();
    MaxTree tree;
    tree.Reset(scores);
    ExpectSameWinners(tree, scores);
    for (int update = 0; update < 20; ++update) {
      const std::size_t at = random() % size;
      scores[at] = any_score();
      tree.Update(at, scores[at]);
      ASSERT_EQ(tree.at(at), scores[at]);
      ExpectSameWinners(tree, scores);
    }
  }
}

}  // namespace
}  // namespace strata
