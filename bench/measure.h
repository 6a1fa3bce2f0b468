#pragma once

#include <cstddef>
#include <vector>

#include <benchmark/benchmark.h>

namespace strata::bench {

// The value below which `share` of the repetitions lie.
[[nodiscard]] double Percentile(std::vector<double> times, double share);

// One measured run per repetition, its time set by the benchmark itself; p50 and p99 over the
// repetitions. The set-up is done anew for each, outside the clock.
void Repeat(benchmark::internal::Benchmark* bench, int repetitions);

// Bytes that the program holds on glibc's heap.
[[nodiscard]] std::size_t HeapInUse();

// Seconds of one core that this thread has used.
[[nodiscard]] double CoreSeconds();

// Seconds of one core that `work` takes: what else runs on the machine does not count.
template <typename Work>
[[nodiscard]] double SecondsOf(Work&& work) {
  const double start = CoreSeconds();
  work();
  return CoreSeconds() - start;
}

}  // namespace strata::bench
