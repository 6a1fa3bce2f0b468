#include "base/timestamp.h"

#include <chrono>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

std::string Normal(std::string_view text) {
  const Result<Time> time = ParseTimestamp(text);
  return time ? FormatTimestamp(*time) : time.error().message;
}

TEST(Timestamp, ReadsAnyOffsetAndPrintsUtc) {
  EXPECT_EQ(Normal("2026-08-20T10:00:00Z"), "2026-08-20T10:00:00Z");
  EXPECT_EQ(Normal("2026-08-20T12:00:00.25+02:00"), "2026-08-20T10:00:00.250Z");
  EXPECT_EQ(Normal("2026-01-01T00:30:00+01:00"), "2025-12-31T23:30:00Z");
  EXPECT_EQ(Normal("2025-12-31t23:30:00-00:30"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(Normal("2024-02-29T23:59:60Z"), "2024-03-01T00:00:00Z");
  EXPECT_EQ(Normal("2026-08-20T10:00:00.123456789Z"), "2026-08-20T10:00:00.123Z");
  EXPECT_EQ(Normal("1969-12-31T23:59:59.5Z"), "1969-12-31T23:59:59.500Z");
  EXPECT_EQ(Normal("2026-08-20T10:00:00,5+24:60"), "2026-08-19T09:00:00.500Z");
}

TEST(Timestamp, TheEpochIsTimeZero) {
  EXPECT_EQ(ParseTimestamp("1970-01-01T00:00:00Z").value(), Time{});
}

TEST(Timestamp, SaysWhatWasExpected) {
  for (const std::string_view bad : {"",
                                     "yesterday",
                                     "2026-08-20",
                                     "2026-08-20 10:00:00Z",
                                     "2026-08-20T10:00:00",
                                     "2026-13-01T00:00:00Z",
                                     "2025-02-29T00:00:00Z",
                                     "2026-08-20T24:00:00Z",
                                     "2026-08-20T10:00:00.Z",
                                     "2026-08-20T10:00:00+25:00",
                                     "2026-08-20T10:00:00+00:61",
                                     "0000-01-01T00:00:00+00:01",
                                     "9999-12-31T23:59:59-00:01",
                                     "2026-08-20T10:00:00Zx",
                                     "2026-8-20T10:00:00Z"}) {
    EXPECT_EQ(
        Normal(bad),
        "bad time \"" + std::string(bad) + "\" (want RFC 3339, such as 2026-08-20T10:00:00Z)");
  }
}

TEST(Timestamp, AMicroTimeAlwaysHasSixDigits) {
  EXPECT_EQ(FormatMicroTime(Time(Duration(0))), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(FormatMicroTime(Time(Duration(61007))), "1970-01-01T00:01:01.007000Z");
}

}  // namespace
}  // namespace strata
