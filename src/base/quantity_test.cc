#include "base/quantity.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::HasSubstr;

Quantity Q(std::string_view text) {
  const Result<Quantity> parsed = Quantity::Parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(Quantity());
}

std::string ErrorOf(std::string_view text) {
  const Result<Quantity> parsed = Quantity::Parse(text);
  return parsed ? "parsed as " + parsed->ToString() : parsed.error().message;
}

TEST(Quantity, ReadsEverySuffixExactly) {
  struct Case {
    std::string_view text;
    std::int64_t milli;
  };
  for (const Case& c : {Case{"1", 1000},
                        {"+1", 1000},
                        {"1500m", 1500},
                        {"0.5", 500},
                        {".5", 500},
                        {"2.", 2000},
                        {"1e3", 1'000'000},
                        {"1E3", 1'000'000},
                        {"1e+3", 1'000'000},
                        {"5e-1", 500},
                        {"1000000n", 1},
                        {"1000u", 1},
                        {"1k", 1'000'000},
                        {"1Ki", 1'024'000},
                        {"0.5Ki", 512'000},
                        {"1M", 1'000'000'000},
                        {"1Mi", 1'048'576'000},
                        {"-3", -3000},
                        {"00012", 12'000},
                        {"0.0000000000000001e15", 100},
                        {"1G", 1'000'000'000'000}}) {
    EXPECT_EQ(Q(c.text).Milli().value(), c.milli) << c.text;
  }
  EXPECT_EQ(Q("1T").Value().value(), 1'000'000'000'000);
  EXPECT_EQ(Q("1P").Value().value(), 1'000'000'000'000'000);
  EXPECT_EQ(Q("9E").Value().value(), 9'000'000'000'000'000'000);
  EXPECT_EQ(Q("7Ei").Value().value(), std::int64_t{7} << 60);
  EXPECT_EQ(Q("1.5Gi").Value().value(), 1'610'612'736);
  EXPECT_EQ(Q("9223372036854775807").Value().value(), 9223372036854775807);
}

TEST(Quantity, RoundsAwayFromZeroAsKubernetesDoes) {
  EXPECT_EQ(Q("0.1n"), Q("1n"));
  EXPECT_EQ(Q("1.00000000001"), Q("1000000001n"));
  EXPECT_EQ(Q("1u").Milli().value(), 1);
  EXPECT_EQ(Q("1500m").Value().value(), 2);
  EXPECT_EQ(Q("-1500m").Value().value(), -2);
  EXPECT_EQ(Q("1e-1000").ToString(), "1n");
  EXPECT_EQ(Q("0e99999999999999999999").ToString(), "0");
}

TEST(Quantity, SaysWhatWasExpected) {
  for (const std::string_view bad :
       {"",      " ",   "abc",   "1x", "1 Gi", "Gi",  "1Gim", "1mm",   "1e",  "1e+", "1e+-3",
        "1e1.5", "--1", "1.2.3", ".",  "0x10", "1ki", "1K",   "1e3Ki", "nan", "inf", "1Ei3"}) {
    EXPECT_THAT(ErrorOf(bad), HasSubstr("want a number with one suffix at most")) << bad;
  }
  EXPECT_EQ(ErrorOf("1GB"),
            "bad quantity \"1GB\" (want a number with one suffix at most, such as 2, 0.5, 1500m, "
            "16Gi or 1e3)");
}

TEST(Quantity, RefusesWhatExceeds63Bits) {
  for (const std::string_view big : {"9223372036854775808",
                                     "8Ei",
                                     "16Ei",
                                     "10E",
                                     "1e19",
                                     "1e400",
                                     "9999999999999999999999999999999999999999",
                                     "8.1Ei"}) {
    EXPECT_THAT(ErrorOf(big), HasSubstr("want a number within 2^63-1")) << big;
  }
  EXPECT_FALSE(Q("9E").Milli().has_value());
  EXPECT_FALSE((Q("9E") + Q("9E")).Value().has_value());
}

TEST(Quantity, ComparesByValueWhateverTheSuffix) {
  EXPECT_EQ(Q("1"), Q("1000m"));
  EXPECT_EQ(Q("1Ki"), Q("1024"));
  EXPECT_LT(Q("999m"), Q("1"));
  EXPECT_GT(Q("1Gi"), Q("1G"));
}

TEST(Quantity, PrintsTheCanonicalForm) {
  for (const std::string_view same : {"1500m", "16Gi", "1k", "5", "1n", "-3", "1536Mi", "0"}) {
    EXPECT_EQ(Q(same).ToString(), same);
  }
  EXPECT_EQ(Q("1024Mi").ToString(), "1Gi");
  EXPECT_EQ(Q("0.5Ki").ToString(), "512");
  EXPECT_EQ(Q("0.9765625Ki").ToString(), "1k");
  EXPECT_EQ(Q("-0.9765625Ki").ToString(), "-1k");
  EXPECT_EQ(Q("1.953125Ki").ToString(), "2000");
  EXPECT_EQ(Q("0.5").ToString(), "500m");
  EXPECT_EQ(Q("1e3").ToString(), "1k");
  EXPECT_EQ((Q("512Mi") + Q("512Mi")).ToString(), "1Gi");
  EXPECT_EQ((Quantity() + Q("1Mi")).ToString(), "1Mi");
  EXPECT_EQ((Q("3") - Q("1500m")).ToString(), "1500m");
  EXPECT_EQ((Q("250m") * 8).ToString(), "2");
  EXPECT_EQ(Quantity::FromMilli(2500).ToString(), "2500m");
}

}  // namespace
}  // namespace strata
