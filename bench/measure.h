#pragma once

#include <chrono>
#include <vector>

#include <benchmark/benchmark.h>

namespace strata::bench {

// The value below which `share` of the repetitions lie.
[[nodiscard]] double Percentile(std::vector<double> times, double share);

// One measured run per repetition, its time set by the benchmark itself; p50 and p99 over the
// repetitions. The set-up is done anew for each, outside the clock.
void Repeat(benchmark::internal::Benchmark* bench, int repetitions);

// Seconds that `work` takes.
template <typename Work>
[[nodiscard]] double SecondsOf(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace strata::bench
