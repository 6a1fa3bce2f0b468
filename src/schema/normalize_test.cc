#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/quantity.h"
#include "schema/catalog.h"
#include "schema/check.h"
#include "tests/support/property.h"

namespace strata::schema {
namespace {

using nlohmann::json;

// `value` as the server would store it among the limits of a container.
json Limit(const json& value) {
  json pod = {{"spec", {{"containers", {{{"resources", {{"limits", {{"x", value}}}}}}}}}}};
  Normalize(*BuiltIn("", "v1", "Pod"), pod);
  return pod["spec"]["containers"][0]["resources"]["limits"]["x"];
}

// The same where a quantity is not in a list of resources.
json SizeLimit(const json& value) {
  json pod = {{"spec", {{"volumes", {{{"emptyDir", {{"sizeLimit", value}}}}}}}}};
  Normalize(*BuiltIn("", "v1", "Pod"), pod);
  return pod["spec"]["volumes"][0]["emptyDir"]["sizeLimit"];
}

json Created(const std::string& value) {
  json pod = {{"metadata", {{"creationTimestamp", value}}}};
  Normalize(*BuiltIn("", "v1", "Pod"), pod);
  return pod["metadata"]["creationTimestamp"];
}

json Renewed(const std::string& value) {
  json lease = {{"spec", {{"renewTime", value}}}};
  Normalize(*BuiltIn("coordination.k8s.io", "v1", "Lease"), lease);
  return lease["spec"]["renewTime"];
}

TEST(Normalize, WritesQuantitiesInOneWay) {
  EXPECT_EQ(Limit("1000m"), "1");
  EXPECT_EQ(Limit("0.5"), "500m");
  EXPECT_EQ(Limit("2000"), "2k");
  EXPECT_EQ(Limit("1024Mi"), "1Gi");
  EXPECT_EQ(Limit("1.5Gi"), "1536Mi");
  EXPECT_EQ(Limit("1000"), "1k");
  EXPECT_EQ(Limit("+1"), "1");
  EXPECT_EQ(Limit("0Gi"), "0");
  EXPECT_EQ(Limit("-1500m"), "-1500m");
}

TEST(Normalize, KeepsExponents) {
  EXPECT_EQ(Limit("1e3"), "1e3");
  EXPECT_EQ(Limit("129e6"), "129e6");
  EXPECT_EQ(Limit("1000E3"), "1e6");
  EXPECT_EQ(Limit("12e2"), "1200");
  EXPECT_EQ(Limit("5e-1"), "500e-3");
  EXPECT_EQ(Limit("0e3"), "0");
  EXPECT_EQ(Limit("2E"), "2E") << "exa, no exponent";
  EXPECT_EQ(Limit("2Ei"), "2Ei");
}

TEST(Normalize, TakesNumbers) {
  EXPECT_EQ(Limit(2), "2");
  EXPECT_EQ(Limit(0.5), "500m");
  EXPECT_EQ(Limit(1000.0), "1k");
  EXPECT_EQ(Limit(-3), "-3");
}

TEST(Normalize, RoundsUpToAThousandthInListsOfResources) {
  EXPECT_EQ(Limit("1u"), "1m");
  EXPECT_EQ(Limit("0.0005"), "1m");
  EXPECT_EQ(Limit("1500u"), "2m");
  EXPECT_EQ(SizeLimit("1u"), "1u");
}

TEST(Normalize, RoundsBinaryQuantitiesUpToWholeOnes) {
  EXPECT_EQ(Limit("1.0001Ki"), "1025");
  EXPECT_EQ(Limit("0.5Ki"), "512");
  EXPECT_EQ(Limit("1.999999Ki"), "2Ki");
  EXPECT_EQ(SizeLimit("0.0001Ki"), "102400u");
}

TEST(Normalize, LeavesAloneWhatItDoesNotUnderstand) {
  for (const json& odd : {json("a lot"),
                          json(""),
                          json(nullptr),
                          json(true),
                          json::array({1}),
                          json("99999999999999999999999"),
                          json::object()}) {
    EXPECT_EQ(Limit(odd), odd);
  }
  EXPECT_EQ(Created("yesterday"), "yesterday");
}

TEST(Normalize, WritesTimesInUtcToTheSecond) {
  EXPECT_EQ(Created("2026-01-02T03:04:05Z"), "2026-01-02T03:04:05Z");
  EXPECT_EQ(Created("2026-01-02T03:04:05.999Z"), "2026-01-02T03:04:05Z");
  EXPECT_EQ(Created("2026-01-02T03:04:05+02:00"), "2026-01-02T01:04:05Z");
}

TEST(Normalize, WritesMicroTimesWithSixDigits) {
  EXPECT_EQ(Renewed("2026-01-02T03:04:05.000006Z"), "2026-01-02T03:04:05.000006Z");
  EXPECT_EQ(Renewed("2026-01-02T03:04:05.123456+02:00"), "2026-01-02T01:04:05.123456Z");
  EXPECT_EQ(Renewed("2026-01-02T03:04:05.5Z"), "2026-01-02T03:04:05.500000Z");
}

rc::Gen<std::string> AnyQuantity() {
  return rc::gen::map(rc::gen::tuple(rc::gen::inRange<std::int64_t>(-100'000, 2'000'000),
                                     rc::gen::inRange(0, 4),
                                     rc::gen::element<std::string>("",
                                                                   "n",
                                                                   "u",
                                                                   "m",
                                                                   "k",
                                                                   "M",
                                                                   "G",
                                                                   "T",
                                                                   "Ki",
                                                                   "Mi",
                                                                   "Gi",
                                                                   "Ti",
                                                                   "e0",
                                                                   "e3",
                                                                   "E2",
                                                                   "e-2")),
                      [](const std::tuple<std::int64_t, int, std::string>& parts) {
                        const auto& [digits, point, suffix] = parts;
                        std::string text = std::to_string(digits);
                        if (point > 0 && text.size() > static_cast<std::size_t>(point) + 1) {
                          text.insert(text.size() - static_cast<std::size_t>(point), ".");
                        }
                        return text + suffix;
                      });
}

TEST(NormalizeProperty, IsIdempotentAndRoundsUpByLessThanItsGrain) {
  strata::testing::CheckProperty(2000, [] {
    const std::string text = *AnyQuantity();
    const std::string once = Limit(text).get<std::string>();
    RC_ASSERT(Limit(once) == once);
    const Quantity before = *Quantity::Parse(text);
    const Quantity after = *Quantity::Parse(once);
    const Quantity change = before.IsNegative() ? before - after : after - before;
    const bool binary = text.ends_with('i');
    RC_ASSERT(!change.IsNegative());
    RC_ASSERT(change < (binary ? Quantity::FromValue(1) : Quantity::FromMilli(1)));
    const Result<std::int64_t> milli = before.Milli();
    if (milli && !binary && before == Quantity::FromMilli(*milli)) RC_ASSERT(change.IsZero());
    RC_ASSERT(!(before.IsInteger() && !change.IsZero()));
  });
}

}  // namespace
}  // namespace strata::schema
