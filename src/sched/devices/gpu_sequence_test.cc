// Pods that come one after another, each taking its GPUs for itself: how near the choices come to
// the best that could be done by someone who knew the whole sequence. docs/gpu-topology.md has the
// table.
#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "model/gpu_machines.h"
#include "sched/devices/gpu_sets.h"

namespace strata {
namespace {

using Positions = std::vector<std::size_t>;
using Sequence = std::vector<std::size_t>;

Positions Without(const Positions& from, const Positions& taken) {
  Positions rest;
  std::set_difference(
      from.begin(), from.end(), taken.begin(), taken.end(), std::back_inserter(rest));
  return rest;
}

Positions All(const PairScores& scores) {
  Positions all(scores.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

// What the pods of the sequence get in all, one by one.
std::int64_t Reached(const PairScores& scores, const Sequence& sequence) {
  Positions free = All(scores);
  std::int64_t total = 0;
  for (const std::size_t count : sequence) {
    const GpuSet set = BestGpuSet(scores, free, count);
    total += set.score;
    free = Without(free, set.members);
  }
  return total;
}

// The most they could get, whatever the choices: every way to share out the GPUs.
std::int64_t Possible(const PairScores& scores, const Sequence& sequence, const Positions& free) {
  if (sequence.empty()) return 0;
  const Sequence rest(sequence.begin() + 1, sequence.end());
  std::int64_t best = std::numeric_limits<std::int64_t>::min();
  for (std::uint32_t mask = 0; mask < (1U << free.size()); ++mask) {
    if (static_cast<std::size_t>(__builtin_popcount(mask)) != sequence.front()) continue;
    Positions set;
    for (std::size_t i = 0; i < free.size(); ++i) {
      if ((mask >> i & 1U) != 0) set.push_back(free[i]);
    }
    best = std::max(best, SumOfPairs(scores, set) + Possible(scores, rest, Without(free, set)));
  }
  return best;
}

// HAMi's choice: the first set found of those with the highest sum, its candidates in the order of
// its walk, from the last GPU down; one GPU is the first with the lowest sum to the others.
Positions FirstFound(const PairScores& scores, const Positions& free, std::size_t count) {
  const Positions walk(free.rbegin(), free.rend());
  Positions best;
  std::int64_t best_sum = std::numeric_limits<std::int64_t>::min();
  std::vector<bool> taken(walk.size(), false);
  std::fill_n(taken.begin(), count, true);
  do {  // the sets in the order of the walk
    Positions set;
    for (std::size_t i = 0; i < walk.size(); ++i) {
      if (taken[i]) set.push_back(walk[i]);
    }
    std::int64_t sum = SumOfPairs(scores, set);
    if (count == 1) {
      for (const std::size_t other : free) sum -= other == set[0] ? 0 : scores.Get(set[0], other);
    }
    if (sum > best_sum) {
      best = set;
      best_sum = sum;
    }
  } while (std::prev_permutation(taken.begin(), taken.end()));
  std::sort(best.begin(), best.end());
  return best;
}

std::int64_t ReachedByFirstFound(const PairScores& scores, const Sequence& sequence) {
  Positions free = All(scores);
  std::int64_t total = 0;
  for (const std::size_t count : sequence) {
    const Positions set = FirstFound(scores, free, count);
    total += SumOfPairs(scores, set);
    free = Without(free, set);
  }
  return total;
}

TEST(GpuSequence, WithTheFirstSetFoundAsInTheTableOfTheDocumentation) {
  const PairScores scores = FindGpuMachine("dgx1v")->links.Scores();
  std::map<Sequence, std::int64_t> found;
  for (const Sequence& sequence :
       {Sequence{1, 2, 4}, {4, 2, 1}, {2, 2, 2, 2}, {1, 1, 2, 4}, {3, 3, 2}}) {
    found[sequence] = ReachedByFirstFound(scores, sequence);
  }
  const std::map<Sequence, std::int64_t> expected = {{{1, 2, 4}, 990},
                                                     {{4, 2, 1}, 1370},
                                                     {{2, 2, 2, 2}, 920},
                                                     {{1, 1, 2, 4}, 990},
                                                     {{3, 3, 2}, 1430}};
  EXPECT_EQ(found, expected);
}

TEST(GpuSequence, ComesNearToWhatIsPossible) {
  const std::vector<Sequence> sequences = {
      {1, 2, 4}, {4, 2, 1}, {2, 2, 2, 2}, {1, 1, 2, 4}, {3, 3, 2}};
  std::map<std::string, std::string> found;
  for (const char* name : {"dgx1v", "dgxa100", "hgxh100", "pcie8", "a100br8", "b200-degraded"}) {
    const PairScores scores = FindGpuMachine(name)->links.Scores();
    std::vector<std::string> parts;
    for (const Sequence& sequence : sequences) {
      const std::int64_t possible = Possible(scores, sequence, All(scores));
      const std::int64_t reached = Reached(scores, sequence);
      EXPECT_LE(reached, possible);
      parts.push_back(fmt::format("{}: {}/{}", fmt::join(sequence, ","), reached, possible));
    }
    found[name] = fmt::format("{}", fmt::join(parts, "  "));
  }
  const std::map<std::string, std::string> expected = {
      {"a100br8",
       "1,2,4: 3670/3670  4,2,1: 3670/3670  2,2,2,2: 4840/4840  1,1,2,4: 3670/3670  3,3,2: "
       "3670/3670"},
      {"b200-degraded",
       "1,2,4: 12740/12740  4,2,1: 12740/12740  2,2,2,2: 5480/5480  1,1,2,4: 12740/12740  3,3,2: "
       "10930/10930"},
      {"dgx1v",
       "1,2,4: 1370/1370  4,2,1: 1370/1370  2,2,2,2: 920/920  1,1,2,4: 870/1370  3,3,2: 1430/1430"},
      {"dgxa100",
       "1,2,4: 8560/8560  4,2,1: 8560/8560  2,2,2,2: 4960/4960  1,1,2,4: 8560/8560  3,3,2: "
       "8560/8560"},
      {"hgxh100",
       "1,2,4: 12740/12740  4,2,1: 12740/12740  2,2,2,2: 7280/7280  1,1,2,4: 12740/12740  3,3,2: "
       "12730/12730"},
      {"pcie8",
       "1,2,4: 230/230  4,2,1: 230/230  2,2,2,2: 200/200  1,1,2,4: 230/230  3,3,2: 190/210"},
  };
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace strata
