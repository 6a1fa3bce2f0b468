// Choosing the GPUs of one pod on one node. Budgets: 20 us for 8 GPUs, 1 ms for 16.
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/check.h"
#include "model/gpu_machines.h"
#include "sched/devices/gpu_fit.h"
#include "sched/devices/gpu_sets.h"
#include "sched/scheduler.h"

namespace strata::bench {
namespace {

GpuRequest Asking(std::int64_t count) {
  GpuRequest pod;
  pod.containers = {{.container = "main", .count = static_cast<std::int32_t>(count), .cores = 100}};
  pod.policy.order = {GpuOrder::kSpread};
  pod.policy.topology_aware = true;
  return pod;
}

void Fit(benchmark::State& bench, const std::string& machine) {
  const NodeGpus node = MakeNodeGpus(*FindGpuMachine(machine), "n");
  const std::vector<GpuUsage> usage(node.gpus.size());
  const GpuRequest pod = Asking(bench.range(0));
  for (auto iteration : bench) {
    static_cast<void>(iteration);
    const GpuFit fit = FitGpus(pod, node, usage);
    CHECK(fit.claim.has_value() && fit.claim->proven);
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

// As many machines of 8 GPUs as pods of one gang that asks for 4 each.
void AddGpuCluster(ClusterState& state, std::size_t size) {
  const ResourceId gpu = state.resource_names().Intern("nvidia.com/gpu");
  QueueSpec queue;
  queue.name = queue.uid = "default";
  state.workload().UpsertQueue(std::move(queue));
  JobSpec job;
  job.name = job.uid = "bench/gang";
  job.queue = "default";
  job.min_available = static_cast<std::int32_t>(size);
  const JobId id = state.workload().UpsertJob(std::move(job));
  for (std::size_t i = 0; i < size; ++i) {
    NodeSpec node;
    node.name = fmt::format("node-{:06}", i);
    node.allocatable.Set(kCpu, 64'000);
    node.allocatable.Set(kPods, 110);
    node.allocatable.Set(gpu, 80'000);
    node.gpus = MakeNodeGpus(*FindGpuMachine("dgx1v"), node.name);
    CHECK(state.UpsertNode(std::move(node)).has_value());
    TaskSpec task;
    task.name = task.uid = fmt::format("bench/gang-worker-{}", i);
    task.job = id;
    task.constraints.request.Set(kCpu, 1000);
    task.constraints.request.Set(kPods, 1);
    task.constraints.request.Set(gpu, 4'000);
    task.constraints.gpus = Asking(4);
    state.workload().AddTask(std::move(task));
  }
}

void GangOverGpuNodes(benchmark::State& bench) {
  const auto size = static_cast<std::size_t>(bench.range(0));
  for (auto iteration : bench) {
    static_cast<void>(iteration);
    bench.PauseTiming();
    ClusterState state;
    AddGpuCluster(state, size);
    auto made = Scheduler::Make(DefaultSchedulerConfig(), state);
    CHECK(made.has_value());
    bench.ResumeTiming();
    made->scheduler->Open(Time{}, nullptr);
    made->scheduler->RunActions();
    bench.PauseTiming();
    CHECK(made->scheduler->Close().binds.size() == size);
    bench.ResumeTiming();
  }
}
BENCHMARK(GangOverGpuNodes)->Arg(100)->Arg(1'000)->Unit(benchmark::kMillisecond)->Iterations(5);

}  // namespace
}  // namespace strata::bench
