#include "controllers/awaited_writes.h"

#include <string>

#include <gtest/gtest.h>

namespace strata::controllers {
namespace {

using std::chrono::seconds;

constexpr net::SteadyTime kStart{};

// An object whose deletion is awaited.
std::vector<Cache::Expectation> GoneObject() {
  return {Cache::Expectation{.resource = {}, .key = {}, .uid = "u", .version = 0}};
}

bool Never(const Cache::Expectation& expectation) {
  return expectation.uid.empty();
}
bool Always(const Cache::Expectation& expectation) {
  return !Never(expectation);
}

TEST(AwaitedWrites, AreAwaitedUntilTheyAreSeen) {
  AwaitedWrites writes;
  EXPECT_TRUE(writes.AllSeen("a", kStart, Never));
  writes.Add("a", GoneObject(), kStart);
  EXPECT_FALSE(writes.AllSeen("a", kStart, Never));
  EXPECT_TRUE(writes.AllSeen("b", kStart, Never));
  EXPECT_TRUE(writes.AllSeen("a", kStart, Always));
  EXPECT_EQ(writes.size(), 0U);
}

TEST(AwaitedWrites, AreGivenUp) {
  AwaitedWrites writes;
  writes.Add("a", GoneObject(), kStart);
  EXPECT_FALSE(writes.AllSeen("a", kStart + AwaitedWrites::kMaxWait - seconds(1), Never));
  EXPECT_TRUE(writes.AllSeen("a", kStart + AwaitedWrites::kMaxWait, Never));
}

// A job that is gone is not looked at again.
TEST(AwaitedWrites, ThatNobodyAsksAboutAreForgotten) {
  AwaitedWrites writes;
  for (int i = 0; i < 1000; ++i) writes.Add(std::to_string(i), GoneObject(), kStart + seconds(i));
  EXPECT_EQ(writes.size(), 5U);
}

TEST(AwaitedWrites, ALaterPlanIsAwaitedAnew) {
  AwaitedWrites writes;
  writes.Add("a", GoneObject(), kStart);
  writes.Add("a", GoneObject(), kStart + seconds(3));
  writes.Add("b", GoneObject(), kStart + seconds(6));
  EXPECT_FALSE(writes.AllSeen("a", kStart + seconds(6), Never));
}

}  // namespace
}  // namespace strata::controllers
