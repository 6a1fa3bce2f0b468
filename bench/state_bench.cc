// What keeping the state costs: time per event of a pod and of a node, memory per node and per pod.
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "bench/clusters.h"
#include "bench/measure.h"

namespace strata::bench {
namespace {

constexpr std::size_t kEvents = 1'000;

// A pod comes, runs and goes, a thousand times; the time is that of one event.
void PodEvent(benchmark::State& bench) {
  const auto nodes = static_cast<std::size_t>(bench.range(0));
  ClusterState state;
  AddFabric(state, {.nodes = nodes});
  AddRunning(state, nodes, 2);
  const JobId job =
      AddGang(state, {.name = "events", .pods = 0, .topology = {}, .part_topology = {}});
  state.sums().Settle();
  for (auto iteration : bench) {
    static_cast<void>(iteration);
    std::vector<TaskSpec> pods;
    for (std::size_t i = 0; i < kEvents; ++i) {
      pods.push_back(Pod(job, "bench/events-worker-" + std::to_string(i), 64));
      pods.back().status = TaskStatus::kRunning;
      pods.back().node_name = state.nodes().spec(state.nodes().all()[i * 7 % nodes]).name;
    }
    std::vector<TaskId> ids(kEvents);
    const double added = SecondsOf([&] {
      for (std::size_t i = 0; i < kEvents; ++i) {
        ids[i] = state.workload().AddTask(std::move(pods[i]));
      }
    });
    const double ended = SecondsOf([&] {
      for (const TaskId id : ids) state.workload().SetTaskStatus(id, TaskStatus::kSucceeded);
    });
    const double removed = SecondsOf([&] {
      for (const TaskId id : ids) state.workload().RemoveTask(id);
    });
    bench.SetIterationTime((added + ended + removed) / (3 * kEvents));
  }
  bench.counters["nodes"] = static_cast<double>(nodes);
}

// A node is cordoned and comes back, a thousand times, with its HyperNodes' sums read after each;
// the time is that of one event.
void NodeEvent(benchmark::State& bench) {
  const auto nodes = static_cast<std::size_t>(bench.range(0));
  ClusterState state;
  AddFabric(state, {.nodes = nodes});
  AddRunning(state, nodes, 2);
  state.sums().Settle();
  for (auto iteration : bench) {
    static_cast<void>(iteration);
    std::vector<NodeSpec> changed;
    for (std::size_t i = 0; i < kEvents; ++i) {
      changed.push_back(state.nodes().spec(state.nodes().all()[i * 7 % nodes]));
      changed.back().unschedulable = !changed.back().unschedulable;
    }
    const double time = SecondsOf([&] {
      for (NodeSpec& node : changed) {
        CHECK(state.UpsertNode(std::move(node)).has_value());
        state.sums().Settle();
      }
    });
    bench.SetIterationTime(time / kEvents);
  }
  bench.counters["nodes"] = static_cast<double>(nodes);
}

// Bytes of a ClusterState per node (with its share of the HyperNodes) and per running pod.
void Memory(benchmark::State& bench) {
  const auto nodes = static_cast<std::size_t>(bench.range(0));
  constexpr std::size_t kPods = 4;
  for (auto iteration : bench) {
    static_cast<void>(iteration);
    const std::size_t before = HeapInUse();
    ClusterState state;
    AddFabric(state, {.nodes = nodes});
    state.sums().Settle();
    const std::size_t with_nodes = HeapInUse();
    const JobId job =
        AddGang(state, {.name = "gang", .pods = 0, .topology = {}, .part_topology = {}});
    for (std::size_t i = 0; i < kPods * nodes; ++i) {
      TaskSpec pod = Pod(job, "bench/gang-worker-" + std::to_string(i), 2 * kPods);
      pod.status = TaskStatus::kRunning;
      pod.node_name = state.nodes().spec(state.nodes().all()[i % nodes]).name;
      state.workload().AddTask(std::move(pod));
    }
    const std::size_t with_pods = HeapInUse();
    bench.counters["bytes_per_node"] =
        static_cast<double>(with_nodes - before) / static_cast<double>(nodes);
    bench.counters["bytes_per_pod"] =
        static_cast<double>(with_pods - with_nodes) / static_cast<double>(kPods * nodes);
    bench.SetIterationTime(1);
  }
  bench.counters["nodes"] = static_cast<double>(nodes);
}

void Register() {
  for (const std::int64_t nodes : {1'000, 10'000, 100'000}) {
    const std::string size = std::to_string(nodes / 1'000) + "k";
    Repeat(benchmark::RegisterBenchmark(("pod-event/" + size).c_str(), PodEvent)->Arg(nodes), 5);
    Repeat(benchmark::RegisterBenchmark(("node-event/" + size).c_str(), NodeEvent)->Arg(nodes), 5);
    Repeat(benchmark::RegisterBenchmark(("memory/" + size).c_str(), Memory)->Arg(nodes), 1);
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
