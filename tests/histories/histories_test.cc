#include <gtest/gtest.h>

#include "tests/histories/history.h"

namespace strata::histories {
namespace {

constexpr std::uint64_t kHistories = STRATA_HISTORIES;

TEST(Histories, LoseNothingAndDoubleNothing) {
  Broken sum;
  int binds = 0;
  for (std::uint64_t seed = 1; seed <= kHistories; ++seed) {
    const Report report = RunHistory(seed);
    sum += report.broken;
    binds += report.binds;
    for (const std::string& problem : report.problems) {
      ADD_FAILURE() << "seed " << seed << ": " << problem << "\nreplay: build/strata_run_histories "
                    << seed;
    }
  }
  EXPECT_EQ(sum.lost, 0);
  EXPECT_EQ(sum.bound_twice, 0);
  EXPECT_EQ(sum.half_gangs, 0);
  EXPECT_EQ(sum.over_committed, 0);
  EXPECT_EQ(sum.created_twice, 0);
  EXPECT_EQ(sum.without_lease, 0);
  EXPECT_GT(binds, static_cast<int>(kHistories)) << "little was scheduled: nothing is shown";
}

TEST(Histories, EvictNobodyInVainAndNoGangByHalves) {
  Broken sum;
  int evictions = 0;
  for (std::uint64_t seed = 1; seed <= kHistories / 4; ++seed) {
    const Report report = RunHistory(seed, Plot::kEvictions);
    sum += report.broken;
    evictions += report.evictions;
    for (const std::string& problem : report.problems) {
      ADD_FAILURE() << "seed " << seed << ": " << problem
                    << "\nreplay: build/strata_run_histories --evict " << seed;
    }
  }
  EXPECT_EQ(sum.half_evicted, 0);
  EXPECT_EQ(sum.in_vain, 0);
  EXPECT_EQ(sum.lost, 0);
  EXPECT_EQ(sum.bound_twice, 0);
  EXPECT_EQ(sum.half_gangs, 0);
  EXPECT_EQ(sum.over_committed, 0);
  EXPECT_GT(evictions, static_cast<int>(kHistories / 4)) << "few were evicted: little is shown";
}

TEST(Histories, TheSameSeedGivesTheSameBytes) {
  for (const std::uint64_t seed : {7U, 8U, 9U}) {
    const Report first = RunHistory(seed);
    EXPECT_EQ(first.trace, RunHistory(seed).trace);
    EXPECT_NE(first.trace, RunHistory(seed + 1).trace);
  }
}

}  // namespace
}  // namespace strata::histories
