#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"

namespace strata {

// Numbers that look random and follow from a seed: xoshiro256**, seeded by splitmix64. The same on
// every machine, unlike the distributions of the standard library. Not for secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9E3779B97F4A7C15U;
      std::uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
      mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
      word = mixed ^ (mixed >> 31U);
    }
  }

  std::uint64_t Next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // 0 to `bound` - 1, each with the same probability: what would favour the low ones is drawn
  // again. REQUIRES: bound > 0.
  std::uint64_t Below(std::uint64_t bound) {
    CHECK(bound > 0);
    const std::uint64_t uneven = (0 - bound) % bound;  // 2^64 mod bound
    while (true) {
      const std::uint64_t drawn = Next();
      if (drawn >= uneven) return drawn % bound;
    }
  }

  // From 0, below 1, in steps of 2^-53.
  double Unit() { return static_cast<double>(Next() >> 11U) * 0x1.0p-53; }

  template <typename T>
  void Shuffle(std::vector<T>& values) {
    for (std::size_t left = values.size(); left > 1; --left) {
      std::swap(values[left - 1], values[Below(left)]);
    }
  }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace strata
