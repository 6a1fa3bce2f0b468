#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace strata {

// A score in billionths. Plugins compute in double by the formulas of docs/configuration.md and
// round once, here; sums and comparisons are then exact integers, so a choice depends neither on
// the order of the sum nor on the compiler.
using Score = std::int64_t;

inline constexpr Score kScoreUnit = 1'000'000'000;
// Plugin weights are at most this, so that no sum of scores overflows.
inline constexpr std::int64_t kMaxWeight = 1'000'000;
// Worse than any score a plugin gives.
inline constexpr Score kNoScore = std::numeric_limits<Score>::min();

[[nodiscard]] inline Score ToScore(double value) {
  return std::llround(value * static_cast<double>(kScoreUnit));
}
[[nodiscard]] inline double ToDouble(Score score) {
  return static_cast<double>(score) / static_cast<double>(kScoreUnit);
}

}  // namespace strata
