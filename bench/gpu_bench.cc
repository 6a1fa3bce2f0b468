// Choosing the GPUs of one pod on one node. Budgets: 20 us for 8 GPUs, 1 ms for 16.
#include <numeric>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "model/gpu_machines.h"
#include "sched/devices/gpu_fit.h"
#include "sched/devices/gpu_sets.h"

namespace strata::bench {
namespace {

void Fit(benchmark::State& bench, const std::string& machine) {
  const NodeGpus node = MakeNodeGpus(*FindGpuMachine(machine), "n");
  const std::vector<GpuUsage> usage(node.gpus.size());
  GpuRequest pod;
  pod.containers = {
      {.container = "main", .count = static_cast<std::int32_t>(bench.range(0)), .cores = 100}};
  pod.policy.order = {GpuOrder::kSpread};
  pod.policy.topology_aware = true;
  for (auto iteration : bench) {
    static_cast<void>(iteration);
    const GpuFit fit = FitGpus(pod, node, usage);
    CHECK(fit.claim.has_value() && fit.proven);
  }
}

void OfEight(benchmark::State& bench) {
  Fit(bench, "dgx1v");
}
BENCHMARK(OfEight)->DenseRange(1, 8)->Unit(benchmark::kMicrosecond);

void OfSixteen(benchmark::State& bench) {
  Fit(bench, "dgx2");
}
BENCHMARK(OfSixteen)->DenseRange(1, 16)->Unit(benchmark::kMicrosecond);

// Beyond sixteen the search has a bound, and an end.
void OfSixtyFourWithoutOrder(benchmark::State& bench) {
  constexpr std::size_t kSize = 64;
  std::vector<std::optional<std::int32_t>> directed(kSize * kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) {
      directed[i * kSize + j] = static_cast<std::int32_t>((i * 31 + j * 31 + i * j * 7) % 97);
    }
  }
  const PairScores scores(kSize, directed);
  std::vector<std::size_t> all(kSize);
  std::iota(all.begin(), all.end(), 0);
  for (auto iteration : bench) {
    static_cast<void>(iteration);
    benchmark::DoNotOptimize(BestGpuSet(scores, all, 32));
  }
}
BENCHMARK(OfSixtyFourWithoutOrder)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace strata::bench
