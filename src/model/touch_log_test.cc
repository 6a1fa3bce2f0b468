#include "model/touch_log.h"

#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/ids.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TouchLog, SaysWhatChangedSinceAVersion) {
  TouchLog<NodeId> log;
  log.Touch(NodeId{3});
  const std::uint64_t seen = log.Next();
  EXPECT_THAT(*log.Since(seen), IsEmpty());
  EXPECT_EQ(log.Touch(NodeId{5}), seen);
  log.Touch(NodeId{3});
  EXPECT_THAT(*log.Since(seen), ElementsAre(NodeId{5}, NodeId{3}));
}

TEST(TouchLog, ForgetsWhatIsLongAgoAndNothingOfLate) {
  TouchLog<NodeId> log;
  const std::uint64_t begin = log.Next();
  for (int i = 0; i < 10'000; ++i) log.Touch(NodeId{1});
  const std::uint64_t seen = log.Next();
  log.Touch(NodeId{2});
  EXPECT_FALSE(log.Since(begin).has_value());
  ASSERT_TRUE(log.Since(seen).has_value());
  EXPECT_THAT(*log.Since(seen), ElementsAre(NodeId{2}));
  EXPECT_EQ(seen, begin + 10'000);  // versions go on
}

}  // namespace
}  // namespace strata
