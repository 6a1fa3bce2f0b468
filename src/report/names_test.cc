#include "report/names.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::ElementsAre;

TEST(NearestNames, SortsByTypingErrorsThenByName) {
  EXPECT_THAT(NearestNames({"b", "abd", "abc", "abcd"}, "abc", 3),
              ElementsAre("abc", "abcd", "abd"));
  EXPECT_THAT(NearestNames({}, "abc", 3), ElementsAre());
}

TEST(NaturalLess, ReadsNumbersInNamesAsNumbers) {
  std::vector<std::string> names = {
      "s10", "s2", "rack-2-node-10", "s", "s02", "rack-2-node-9", "s1x"};
  std::sort(names.begin(), names.end(), NaturalLess);
  EXPECT_THAT(names,
              ElementsAre("rack-2-node-9", "rack-2-node-10", "s", "s1x", "s02", "s2", "s10"));
  EXPECT_FALSE(NaturalLess("s2", "s2"));
}

TEST(NameSome, ShowsSixNamesAndCountsTheRest) {
  EXPECT_EQ(NameSome({"a", "b"}), "a, b");
  EXPECT_EQ(NameSome({"a", "b", "c", "d", "e", "f", "g", "h"}), "a, b, c, d, e, f and 2 more");
}

}  // namespace
}  // namespace strata
