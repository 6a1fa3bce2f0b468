#include "convert/amounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Quantity Q(std::string_view text) {
  return Quantity::Parse(text).value();
}

TEST(Amounts, EachResourceHasItsUnit) {
  ResourceNames names;
  const Resources resources = ToResources({{"cpu", Q("1500m")},
                                           {"memory", Q("1Ki")},
                                           {"pods", Q("110")},
                                           {"nvidia.com/gpu", Q("2")},
                                           {"hugepages-2Mi", Q("4Mi")}},
                                          names)
                                  .value();
  EXPECT_EQ(resources.Get(kCpu), 1500);
  EXPECT_EQ(resources.Get(kMemory), 1024);
  EXPECT_EQ(resources.Get(kPods), 110);
  EXPECT_EQ(resources.Get(*names.Find("nvidia.com/gpu")), 2000);
  EXPECT_EQ(resources.Get(*names.Find("hugepages-2Mi")), 4 << 20);
}

TEST(Amounts, PartsOfAUnitAreRoundedUp) {
  ResourceNames names;
  const Resources resources = ToResources({{"cpu", Q("1u")}, {"memory", Q("100m")}}, names).value();
  EXPECT_EQ(resources.Get(kCpu), 1);
  EXPECT_EQ(resources.Get(kMemory), 1);
}

TEST(Amounts, QuotaNamesAreTranslatedOrDropped) {
  ResourceNames names;
  const Resources resources = ToResources({{"requests.cpu", Q("2")},
                                           {"requests.nvidia.com/gpu", Q("1")},
                                           {"limits.cpu", Q("9")},
                                           {"count/pods", Q("9")}},
                                          names)
                                  .value();
  EXPECT_EQ(resources.Get(kCpu), 2000);
  EXPECT_EQ(resources.Get(*names.Find("nvidia.com/gpu")), 1000);
  EXPECT_EQ(names.size() + names.absent_count(), 4U) << "cpu, memory, pods and the GPU";
}

TEST(Amounts, APlainNameCountsBeforeItsQuotaName) {
  ResourceNames names;
  const Resources resources =
      ToResources({{"cpu", Q("1")}, {"requests.cpu", Q("2")}}, names).value();
  EXPECT_EQ(resources.Get(kCpu), 1000);
}

TEST(Amounts, SharesOfAGpuAreNotNodeResources) {
  ResourceNames names;
  const Resources resources = ToResources({{"nvidia.com/gpumem", Q("3000")},
                                           {"nvidia.com/gpumem-percentage", Q("50")},
                                           {"nvidia.com/gpucores", Q("30")}},
                                          names)
                                  .value();
  EXPECT_EQ(resources.size(), 0U);
  EXPECT_EQ(names.size(), 3U);
}

TEST(Amounts, ANamedZeroIsALimit) {
  ResourceNames names;
  EXPECT_EQ(ToLimits({{"cpu", Q("0")}}, names).value(), (ResourceLimits{{kCpu, 0}}));
}

TEST(Amounts, NamesTheResourceOfAnAmountThatOverflows) {
  ResourceNames names;
  const auto result = ToResources({{"nvidia.com/gpu", Q("9E")}}, names);
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, StartsWith("nvidia.com/gpu: "));
  EXPECT_THAT(result.error().message, HasSubstr("9E is too large"));
}

TEST(Amounts, AmountsBecomeQuantitiesAgain) {
  EXPECT_EQ(ToQuantity("cpu", 1500).ToString(), "1500m");
  EXPECT_EQ(ToQuantity("nvidia.com/gpu", 8000).ToString(), "8");
  EXPECT_EQ(ToQuantity("pods", 3).ToString(), "3");
}

}  // namespace
}  // namespace strata
