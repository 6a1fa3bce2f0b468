#pragma once

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace strata::testing {

// How many times as many cases are wanted: STRATA_PROPERTY_SCALE, 1 if it is not set.
[[nodiscard]] inline int PropertyScale() {
  const char* text = std::getenv("STRATA_PROPERTY_SCALE");  // NOLINT(concurrency-mt-unsafe)
  int scale = 1;
  if (text == nullptr) return scale;
  const std::string_view view = text;
  std::from_chars(view.data(), view.data() + view.size(), scale);
  return std::clamp(scale, 1, 100'000);
}

// A test fails unless `testable` holds in `cases` random cases, times PropertyScale(). What fails
// is made as small as it goes and printed with its seed; RC_PARAMS="seed=..." runs the same cases.
template <typename Testable>
void CheckProperty(int cases, Testable&& testable) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = std::max(params.maxSuccess, cases * PropertyScale());
  // The everyday run draws the same cases each time, so that it says something about the change
  // under test; a scaled run (make check-property) and RC_PARAMS draw others.
  const bool drawn = std::getenv("RC_PARAMS") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  if (PropertyScale() == 1 && !drawn) params.seed = 20'261'115;
  const auto result = rc::detail::checkTestable(
      std::forward<Testable>(testable), rc::detail::TestMetadata(), params);
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  EXPECT_TRUE(result.template is<rc::detail::SuccessResult>())
      << message.str() << "\nRC_PARAMS=\"seed=" << params.seed << "\" repeats this.";
}

// Any number in [0, end), small ones first when a case is made smaller. (inRange() alone narrows
// the range in small cases.)
[[nodiscard]] inline rc::Gen<int> Below(int end) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, end));
}

}  // namespace strata::testing
