// One cycle, decision only (open, actions, close): state in memory, default configuration, nobody
// listening. The scenarios and their names are those of bench/README.md.
#include <array>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "bench/clusters.h"
#include "bench/measure.h"
#include "sched/scheduler.h"

namespace strata::bench {
namespace {

struct Scenario {
  std::string name;
  Fabric fabric;
  std::function<void(ClusterState&)> work;  // adds the jobs, if there are any
  std::size_t binds = 0;                    // that the cycle must come to
  int repetitions = 20;
  std::function<void(ClusterState&)> first = nullptr;  // what a cycle before finds, not measured
};

void RunCycle(Scheduler& scheduler, CycleResult& result) {
  scheduler.Open(Time{}, nullptr);
  scheduler.RunActions();
  result = scheduler.Close();
}

void RunScenario(benchmark::State& bench, const Scenario& scenario) {
  ClusterState state;
  AddFabric(state, scenario.fabric);
  auto made = Scheduler::Make(DefaultSchedulerConfig(), state);
  CHECK(made.has_value());
  if (scenario.first) {
    scenario.first(state);
    CycleResult before;
    RunCycle(*made->scheduler, before);
    CHECK(before.binds.empty() == (scenario.binds == 0));
  }
  if (scenario.work) scenario.work(state);
  state.sums().Settle();
  for (auto iteration : bench) {
    static_cast<void>(iteration);
    CycleResult result;
    bench.SetIterationTime(SecondsOf([&] { RunCycle(*made->scheduler, result); }));
    if (result.binds.size() != scenario.binds) bench.SkipWithError("not the expected binds");
  }
  bench.counters["pods"] = static_cast<double>(scenario.binds);
  bench.counters["nodes"] = static_cast<double>(scenario.fabric.nodes);
}

std::function<void(ClusterState&)> OneGang(Gang gang) {
  return [gang = std::move(gang)](ClusterState& state) { AddGang(state, gang); };
}

std::function<void(ClusterState&)> ManyGangs(std::size_t count, Gang gang) {
  return [count, gang = std::move(gang)](ClusterState& state) {
    for (std::size_t i = 0; i < count; ++i) {
      Gang next = gang;
      next.name += std::to_string(i);
      AddGang(state, next);
    }
  };
}

Fabric Racks(std::size_t nodes) {
  return {.nodes = nodes, .widths = {100}};
}

// The reference case: whole-node pods, hard at tier 3.
Gang GangOfThousand() {
  return {.name = "gang", .pods = 1000, .topology = Hard(3), .part_topology = {}};
}

// Sub-groups of ten whole nodes, each in one leaf, all below one HyperNode.
Gang ManySubGroups(std::size_t pods) {
  return {
      .name = "gang", .pods = pods, .topology = Hard(2), .part_size = 10, .part_topology = Hard(1)};
}

std::vector<Scenario> Plain() {
  const Gang pod{.name = "pod", .slices = 64, .topology = {}, .part_topology = {}};
  std::vector<Scenario> all;
  Gang like_it = pod;
  like_it.name = "before";
  for (const auto& [name, nodes, repetitions] : {std::tuple{"1k", 1'000, 100},
                                                 std::tuple{"10k", 10'000, 100},
                                                 std::tuple{"100k", 100'000, 20}}) {
    const Fabric fabric{.nodes = static_cast<std::size_t>(nodes)};
    const std::string size = name;
    all.push_back(
        {"basic/one-pod/" + size, fabric, OneGang(pod), 1, repetitions, OneGang(like_it)});
    all.push_back({"basic/first-pod/" + size, fabric, OneGang(pod), 1, repetitions / 5});
  }
  all.push_back({"basic/1000-pods/1k", {.nodes = 1'000}, ManyGangs(1'000, pod), 1'000, 10});
  all.push_back({"basic/10000-pods/5k", {.nodes = 5'000}, ManyGangs(10'000, pod), 10'000, 5});
  all.push_back({"basic/10000-pods/5k-one-root",
                 {.nodes = 5'000, .widths = {10, 10, 50}},
                 ManyGangs(10'000, pod),
                 10'000,
                 5});
  all.push_back({"basic/10000-pods/5k-uneven",
                 {.nodes = 5'000},
                 [pod](ClusterState& state) {
                   AddUneven(state, 5'000);
                   ManyGangs(10'000, pod)(state);
                 },
                 10'000,
                 3});
  all.push_back({"basic/10000-pods/100k", {.nodes = 100'000}, ManyGangs(10'000, pod), 10'000, 3});
  return all;
}

// The sizes that growth is read from, with how often each is measured.
struct Size {
  const char* name;
  std::size_t nodes;
  int repetitions;
};
constexpr std::array kSizes = {
    Size{"1k", 1'000, 20}, Size{"10k", 10'000, 10}, Size{"100k", 100'000, 4}};

std::vector<Scenario> Gangs() {
  std::vector<Scenario> all;
  const Gang four{.name = "gang", .pods = 4, .slices = 4, .topology = Hard(1), .part_topology = {}};
  const Gang fleet{
      .name = "gang", .pods = 64, .slices = 8, .topology = Hard(3), .part_topology = {}};
  for (const auto& [name, nodes, repetitions] : kSizes) {
    all.push_back({std::string("gang-1000/") + name,
                   {.nodes = nodes},
                   OneGang(GangOfThousand()),
                   1'000,
                   repetitions});
    all.push_back({std::string("tas-rack/100x4/") + name,
                   Racks(nodes),
                   ManyGangs(100, four),
                   400,
                   repetitions});
    all.push_back(
        {std::string("hn-fleet/64/") + name, {.nodes = nodes}, OneGang(fleet), 64, repetitions});
  }
  all.push_back({"tas-rack/750x4/5k", Racks(5'000), ManyGangs(750, four), 3'000, 5});
  const Gang rackful{
      .name = "gang", .pods = 1'000, .slices = 10, .topology = Hard(1), .part_topology = {}};
  all.push_back({"tas-rack/9x1000/5k", Racks(5'000), ManyGangs(9, rackful), 9'000, 5});
  all.push_back({"hn-fleet/6k", {.nodes = 6'000, .widths = {1, 2, 5}}, OneGang(fleet), 64});
  return all;
}

std::vector<Scenario> SubGroups() {
  std::vector<Scenario> all;
  for (const auto& [name, nodes, repetitions] : kSizes) {
    all.push_back({"v4899/" + std::to_string(nodes / 10) + "x10/" + name,
                   {.nodes = nodes, .widths = {10, nodes / 10}},
                   OneGang(ManySubGroups(nodes)),
                   nodes,
                   repetitions});
  }
  const Gang small{.name = "gang",
                   .pods = 8,
                   .slices = 4,
                   .topology = Hard(2),
                   .part_size = 4,
                   .part_topology = Hard(1)};
  const Gang large{
      .name = "gang", .pods = 200, .topology = Hard(2), .part_size = 100, .part_topology = Hard(1)};
  for (const auto& [name, nodes, repetitions] : kSizes) {
    const Fabric zones{.nodes = nodes, .widths = {100, 10}};
    all.push_back(
        {std::string("two-level/100x2x4/") + name, zones, ManyGangs(100, small), 800, repetitions});
    all.push_back(
        {std::string("two-level/2x100/") + name, zones, OneGang(large), 200, repetitions});
  }
  all.push_back({"two-level/500x2x4/5k",
                 {.nodes = 5'000, .widths = {100, 10}},
                 ManyGangs(500, small),
                 4'000,
                 5});
  return all;
}

std::vector<Scenario> Waits() {
  std::vector<Scenario> all;
  const Gang large{.name = "gang", .pods = 5'000, .topology = Hard(3), .part_topology = {}};
  for (const auto& [name, nodes, repetitions] : kSizes) {
    all.push_back({std::string("unschedulable/5000/") + name,
                   {.nodes = nodes},
                   OneGang(large),
                   0,
                   repetitions});
  }
  for (const auto& [name, nodes, pods] : {std::tuple{"1k", 1'000, 10},
                                          std::tuple{"10k", 10'000, 10},
                                          std::tuple{"100k", 100'000, 2}}) {
    const auto count = static_cast<std::size_t>(nodes);
    const auto each = static_cast<std::size_t>(pods);
    all.push_back({std::string("idle-cycle/") + name,
                   {.nodes = count},
                   nullptr,
                   0,
                   5,
                   [count, each](ClusterState& state) { AddRunning(state, count, each); }});
  }
  return all;
}

void Register() {
  for (const auto& scenarios : {Plain(), Gangs(), SubGroups(), Waits()}) {
    for (const Scenario& scenario : scenarios) {
      Repeat(benchmark::RegisterBenchmark(
                 scenario.name.c_str(),
                 [scenario](benchmark::State& bench) { RunScenario(bench, scenario); }),
             scenario.repetitions);
    }
  }
}

}  // namespace
}  // namespace strata::bench

int main(int argc, char** argv) {
  strata::bench::Register();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
