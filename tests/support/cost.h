#pragma once

#include <algorithm>
#include <ctime>
#include <limits>

namespace strata::testing {

// Processor time of this thread that `work` takes, the least of five runs.
template <typename Work>
double CostOf(const Work& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < 5; ++i) {
    const double begin = now();
    work();
    least = std::min(least, now() - begin);
  }
  return least;
}

// How many times as long as `small` the work on `large` takes. With an input of eight times the
// size, linear work takes about eight times as long, quadratic work sixty-four: claims stand
// between.
template <typename Small, typename Large>
double CostRatio(const Small& small, const Large& large) {
  const double base = CostOf(small);
  return CostOf(large) / std::max(base, 1e-9);
}

}  // namespace strata::testing
