#include "agent/device_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/test_pods.h"

namespace strata::agent {
namespace {

constexpr const char* kUuid = "GPU-8dcd427f-5a3c-1c2d-4e5f-0123456789ab";

TEST(DeviceIds, NameTheGpuAsHamiDoes) {
  EXPECT_EQ(DeviceId(kUuid, 3), std::string(kUuid) + "-3");
  EXPECT_EQ(PhysicalId(DeviceId(kUuid, 3)), kUuid);
  EXPECT_EQ(PhysicalId(kUuid), kUuid);
  EXPECT_EQ(PhysicalId("GPU-1::7"), "GPU-1");
  EXPECT_EQ(PhysicalId("MIG-1-2-3-4-5-6"), "MIG-1-2-3-4-5-6");
  EXPECT_EQ(PhysicalId(""), "");
}

TEST(DeviceIds, AreFoundInTheNodeAlsoWhereUuidsAreShort) {
  const NodeGpus node = testing::EightGpus();
  EXPECT_EQ(GpuOfId(node, testing::Id(3, 9)), 3U);
  EXPECT_EQ(GpuOfId(node, testing::G(3)), 3U);
  EXPECT_EQ(GpuOfId(node, "GPU-y-3-0"), std::nullopt);
  EXPECT_EQ(GpuOfId(node, ""), std::nullopt);
}

TEST(DeviceIds, OfANodeAreOnePerShareWithHealthAndNumaWhereWanted) {
  NodeGpus node = testing::EightGpus(2);
  node.gpus.resize(2);
  node.gpus[1].healthy = false;
  node.gpus[1].numa = 1;
  EXPECT_THAT(DevicesOf(node, OfferNuma::kNo),
              ::testing::ElementsAre(OfferedDevice{testing::Id(0, 0), true, {}},
                                     OfferedDevice{testing::Id(0, 1), true, {}},
                                     OfferedDevice{testing::Id(1, 0), false, {}},
                                     OfferedDevice{testing::Id(1, 1), false, {}}));
  EXPECT_EQ(DevicesOf(node, OfferNuma::kYes)[3].numa, 1);
}

}  // namespace
}  // namespace strata::agent
