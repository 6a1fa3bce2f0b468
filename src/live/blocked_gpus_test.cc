#include "live/blocked_gpus.h"

#include <gtest/gtest.h>

namespace strata::live {
namespace {

TEST(WhyBlocked, IsFragmentationWhereAsManyGpusAreFree) {
  EXPECT_EQ(WhyBlocked("NotEnoughResources", 8, 8), BlockedBy::kFragmentation);
  EXPECT_EQ(WhyBlocked("NotEnoughResources", 9, 8), BlockedBy::kCapacity);
}

TEST(WhyBlocked, IsTopologyOnlyWhereAsManyGpusAreFree) {
  EXPECT_EQ(WhyBlocked("TopologyUnsatisfied", 8, 8), BlockedBy::kTopology);
  EXPECT_EQ(WhyBlocked("TopologyUnsatisfied", 9, 8), BlockedBy::kCapacity);
}

TEST(WhyBlocked, TellsQuotasAndOtherReasonsApart) {
  EXPECT_EQ(WhyBlocked("QueueShareExceeded", 9, 8), BlockedBy::kQuota);
  EXPECT_EQ(WhyBlocked("SchedulingGated", 1, 8), BlockedBy::kOther);
}

}  // namespace
}  // namespace strata::live
