#include "bench/measure.h"

#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace strata::bench {

std::size_t HeapInUse() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

double CoreSeconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

double Percentile(std::vector<double> times, double share) {
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  const double rank = std::ceil(share * static_cast<double>(times.size()));
  return times[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

void Repeat(benchmark::internal::Benchmark* bench, int repetitions) {
  bench->UseManualTime()
      ->Iterations(1)
      ->Repetitions(repetitions)
      ->ReportAggregatesOnly()
      ->ComputeStatistics("p50", [](const std::vector<double>& v) { return Percentile(v, 0.50); })
      ->ComputeStatistics("p99", [](const std::vector<double>& v) { return Percentile(v, 0.99); })
      ->Unit(benchmark::kMillisecond);
}

}  // namespace strata::bench
