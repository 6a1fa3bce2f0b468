#include "model/amount_format.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::Pair;

constexpr Amount kGi = Amount{1} << 30;

TEST(FormatAmount, NamesWhatItCountsExceptForMemory) {
  EXPECT_EQ(FormatAmount("cpu", 8000), "8 cpu");
  EXPECT_EQ(FormatAmount("cpu", 1500), "1.5 cpu");
  EXPECT_EQ(FormatAmount("memory", 64 * kGi), "64Gi");
  EXPECT_EQ(FormatAmount("ephemeral-storage", 100 * kGi), "100Gi ephemeral-storage");
  EXPECT_EQ(FormatAmount("nvidia.com/gpu", 2000), "2 nvidia.com/gpu");
  EXPECT_EQ(FormatAmount("pods", 110), "110 pods");
}

TEST(FormatNumber, BytesTakeTheLargestBinaryMultiple) {
  EXPECT_EQ(FormatNumber("memory", 0), "0");
  EXPECT_EQ(FormatNumber("memory", 1023), "1023");
  EXPECT_EQ(FormatNumber("memory", 1024), "1Ki");
  EXPECT_EQ(FormatNumber("memory", kGi + kGi / 2), "1.5Gi");
  EXPECT_EQ(FormatNumber("memory", 4'000'000'000), "3.73Gi");
  EXPECT_EQ(FormatNumber("hugepages-2Mi", 2048 * kGi), "2Ti");
  EXPECT_EQ(FormatNumber("memory", std::numeric_limits<Amount>::max()), "8Ei");
}

TEST(FormatNumber, RoundsToTheDecimalsAskedForAndDropsZeros) {
  EXPECT_EQ(FormatNumber("cpu", 1234), "1.23");
  EXPECT_EQ(FormatNumber("cpu", 1999), "2");
  EXPECT_EQ(FormatNumber("cpu", 1999, 3), "1.999");
  EXPECT_EQ(FormatNumber("cpu", 1050), "1.05");
}

TEST(FormatNumber, KeepsTheSignOfWhatIsOverdrawn) {
  EXPECT_EQ(FormatNumber("cpu", -500), "-0.5");
  EXPECT_EQ(FormatNumber("memory", -2 * kGi), "-2Gi");
  EXPECT_EQ(FormatNumber("memory", std::numeric_limits<Amount>::min()), "-8Ei");
}

TEST(FormatNumbers, ShowsEnoughDecimalsToTellTheTwoApart) {
  EXPECT_THAT(FormatNumbers("memory", 64 * kGi, 16 * kGi), Pair("64Gi", "16Gi"));
  EXPECT_THAT(FormatNumbers("cpu", 8001, 8000), Pair("8.001", "8"));
  EXPECT_THAT(FormatNumbers("memory", 64 * kGi, 64 * kGi - (Amount{1} << 20)),
              Pair("64Gi", "63.999Gi"));
  EXPECT_THAT(FormatNumbers("memory", 7, 7), Pair("7", "7"));
  const auto [max, less] = FormatNumbers(
      "memory", std::numeric_limits<Amount>::max(), std::numeric_limits<Amount>::max() - 1);
  EXPECT_NE(max, less);
}

}  // namespace
}  // namespace strata
