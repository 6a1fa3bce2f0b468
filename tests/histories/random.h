#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace strata::histories {

// Chance from a seed: the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    std::uint64_t mixed = state_ += 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31U);
  }
  // From 0 to n - 1. REQUIRES: n > 0.
  std::int64_t Below(std::int64_t n) {
    return static_cast<std::int64_t>(Next() % static_cast<std::uint64_t>(n));
  }
  std::int64_t From(std::int64_t first, std::int64_t last) {
    return first + Below(last - first + 1);
  }
  // True once in `n` times; never for 0.
  bool OneIn(std::int64_t n) { return n > 0 && Below(n) == 0; }
  Duration Between(Duration least, Duration most) {
    return Duration(From(least.count(), most.count()));
  }
  // In [0, 1).
  double Fraction() { return static_cast<double>(Next() >> 11U) * 0x1.0p-53; }
  // Another sequence, which does not depend on how many numbers of this one are used later.
  Random Split() { return Random(Next()); }

 private:
  std::uint64_t state_;
};

}  // namespace strata::histories
