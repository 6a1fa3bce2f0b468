#include "sched/plugins/argument_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SplitList, TrimsNamesAndTakesEachOnce) {
  EXPECT_THAT(SplitList("nvidia.com/gpu, example.com/foo ,,nvidia.com/gpu"),
              ElementsAre("nvidia.com/gpu", "example.com/foo"));
  EXPECT_THAT(SplitList(""), IsEmpty());
  EXPECT_THAT(SplitList(" , "), IsEmpty());
}

TEST(WeightArgument, ANegativeWeightIsTheDefaultOrKept) {
  Arguments arguments;
  arguments.Set("w", std::int64_t{-4});
  EXPECT_EQ(WeightArgument(arguments, "w", 1, IfNegative::kUseDefault).value(), 1);
  EXPECT_EQ(WeightArgument(arguments, "w", 1, IfNegative::kKeep).value(), -4);
  EXPECT_EQ(WeightArgument(arguments, "absent", 3, IfNegative::kKeep).value(), 3);
}

TEST(WeightArgument, NamesTheBoundThatIsBroken) {
  Arguments arguments;
  arguments.Set("high", std::int64_t{1'000'001});
  arguments.Set("low", std::int64_t{-1'000'001});
  EXPECT_EQ(WeightArgument(arguments, "high", 1, IfNegative::kKeep).error().message,
            "high: want a weight of at most 1000000, found 1000001");
  EXPECT_EQ(WeightArgument(arguments, "low", 1, IfNegative::kKeep).error().message,
            "low: want a weight of at least -1000000, found -1000001");
  EXPECT_EQ(WeightArgument(arguments, "low", 1, IfNegative::kUseDefault).value(), 1);
}

}  // namespace
}  // namespace strata
