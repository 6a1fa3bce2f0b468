#include "report/names.h"

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

TEST(NameSome, ShowsSixNamesAndCountsTheRest) {
  EXPECT_EQ(NameSome({"a", "b"}), "a, b");
  EXPECT_EQ(NameSome({"a", "b", "c", "d", "e", "f", "g", "h"}), "a, b, c, d, e, f and 2 more");
}

}  // namespace
}  // namespace strata
