#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/detail/TestListenerAdapter.h>

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

// The seed of every property of this process. The everyday run draws the same cases each time, so
// that it says something about the change under test; a scaled run (make check-property) draws
// others.
[[nodiscard]] inline std::uint64_t PropertySeed() {
  static const std::uint64_t seed = PropertyScale() == 1 ? 20'261'115 : std::random_device()();
  return seed;
}

// A test fails unless `testable` holds in `cases` random cases, times PropertyScale(). What fails
// is made as small as it goes. Seed and number of cases are printed as RC_PARAMS, which repeats the
// run; another RC_PARAMS="seed=... max_success=..." overrides them.
template <typename Testable>
void CheckProperty(int cases, Testable&& testable) {
  // Not rc::detail::configuration(): that prints a seed which is not ours.
  rc::detail::Configuration used;
  used.testParams.seed = PropertySeed();
  used.testParams.maxSuccess = cases * PropertyScale();
  const char* wanted = std::getenv("RC_PARAMS");  // NOLINT(concurrency-mt-unsafe)
  if (wanted != nullptr) used = rc::detail::configFromString(wanted, used);
  const std::string params = "RC_PARAMS=\"seed=" + std::to_string(used.testParams.seed) +
                             " max_success=" + std::to_string(used.testParams.maxSuccess) + "\"";
  std::cout << params << std::endl;  // flushed: a CHECK ends the process
  rc::detail::TestListenerAdapter silent;
  const auto result = rc::detail::checkTestable(std::forward<Testable>(testable),
                                                rc::detail::TestMetadata(),
                                                used.testParams,
                                                silent,
                                                used.reproduce);
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  message << "\n" << params << " repeats this.";
  EXPECT_TRUE(result.template is<rc::detail::SuccessResult>()) << message.str();
}

// Any number in [0, end), small ones first when a case is made smaller. (inRange() alone narrows
// the range in small cases.)
[[nodiscard]] inline rc::Gen<int> Below(int end) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, end));
}

}  // namespace strata::testing
