// One cycle, decision only: state in memory, default configuration, nobody listening.
#include <benchmark/benchmark.h>

#include "base/check.h"
#include "bench/clusters.h"
#include "sched/scheduler.h"

namespace strata::bench {
namespace {

// A cluster with one pending gang, and the cycle that places it. The state is set up outside the
// clock.
void RunOneCycle(benchmark::State& bench, const Fabric& fabric, const Gang& gang) {
  for (auto iteration : bench) {
    static_cast<void>(iteration);
    bench.PauseTiming();
    ClusterState state;
    AddFabric(state, fabric);
    AddGang(state, gang);
    static_cast<void>(state.Idle(state.tree().top()));  // the tree and its sums belong to the state
    auto made = Scheduler::Make(DefaultSchedulerConfig(), state);
    CHECK(made.has_value());
    bench.ResumeTiming();
    made->scheduler->Open(Time{}, nullptr);
    made->scheduler->RunActions();
    bench.PauseTiming();
    const CycleResult result = made->scheduler->Close();
    CHECK(result.binds.size() == gang.pods || result.binds.empty());
    bench.counters["binds"] = static_cast<double>(result.binds.size());
    bench.ResumeTiming();
  }
}

TopologySpec Hard(std::int32_t tier) {
  return {.mode = TopologySpec::Mode::kHard, .highest_tier = tier, .highest_tier_name = ""};
}

// A hard gang of 1,000 pods that take a whole node each; 10k nodes are 1,110 HyperNodes.
void GangOfThousand(benchmark::State& bench) {
  const Fabric fabric{.nodes = static_cast<std::size_t>(bench.range(0))};
  RunOneCycle(bench,
              fabric,
              {.name = "gang",
               .pods = 1000,
               .milli_cpu = kNodeCpu,
               .memory = kNodeMemory,
               .topology = Hard(3)});
}
BENCHMARK(GangOfThousand)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(20);

// A hard gang of 5,000 that no HyperNode holds: the verdict with its nearest miss.
void GangThatCannotFit(benchmark::State& bench) {
  const Fabric fabric{.nodes = static_cast<std::size_t>(bench.range(0))};
  RunOneCycle(bench,
              fabric,
              {.name = "gang",
               .pods = 5000,
               .milli_cpu = kNodeCpu,
               .memory = kNodeMemory,
               .topology = Hard(3)});
}
BENCHMARK(GangThatCannotFit)->Arg(10'000)->Unit(benchmark::kMillisecond)->Iterations(20);

}  // namespace
}  // namespace strata::bench
