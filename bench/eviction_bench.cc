// The choice of victims, decision only: the action that evicts in one cycle, state in memory, after
// a cycle in which a job of low priority asked for room in vain. `cycle_ms` is the whole cycle,
// with what `allocate` does about the same jobs. The scenarios and their names are those of
// bench/README.md.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/check.h"
#include "bench/clusters.h"
#include "bench/measure.h"
#include "sched/eviction/victim_book.h"
#include "sched/scheduler.h"

namespace strata::bench {
namespace {

constexpr std::int32_t kLevels = 8;      // priorities of running jobs, from 0
constexpr std::int32_t kImportant = 10;  // priority of jobs that evict

SchedulerConfig Evicting(const std::string& action) {
  SchedulerConfig config = DefaultSchedulerConfig();
  config.actions.insert(config.actions.begin() + 2, ActionConfig{.name = action, .arguments = {}});
  return config;
}

class FullCluster {
 public:
  explicit FullCluster(const Fabric& fabric) : nodes_(fabric.nodes) { AddFabric(state_, fabric); }

  void AddQueue(const std::string& name) {
    QueueSpec queue;
    queue.name = name;
    queue.uid = name;
    state_.workload().UpsertQueue(std::move(queue));
  }

  // Gangs of `pods` pods, each pod one `slices`th of a node. Every `pods` neighbours have as many
  // of these gangs as they have room for, one pod of each on each node.
  // With `queues`, in queue-0 and so on instead of `queue`.
  void FillWithGangs(std::size_t pods,
                     Amount slices,
                     const std::string& queue,
                     std::int32_t least,
                     std::size_t queues = 0) {
    std::size_t made = 0;
    for (std::size_t first = 0; first + pods <= nodes_; first += pods) {
      for (Amount k = 0; k < slices; ++k, ++made) {
        const auto level = least + static_cast<std::int32_t>(made * 7 % kLevels);
        const std::string one = queues > 0 ? fmt::format("queue-{}", made % queues) : queue;
        const JobId job = AddJob(fmt::format("runs-{}", made), one, pods, level);
        state_.workload().SetJobPhase(job, JobPhase::kRunning);
        for (std::size_t i = 0; i < pods; ++i) {
          TaskSpec pod = Pod(job, fmt::format("bench/runs-{}-{}", made, i), slices);
          pod.status = TaskStatus::kRunning;
          pod.node_name = fmt::format("node-{:06}", first + i);
          state_.workload().AddTask(std::move(pod));
        }
      }
    }
  }

  void AddWaiting(const std::string& name,
                  const std::string& queue,
                  std::size_t pods,
                  Amount slices,
                  TopologySpec topology = {}) {
    AddPending(name, AddJob(name, queue, pods, kImportant, std::move(topology)), pods, slices);
  }

  void AddPending(const std::string& name, JobId job, std::size_t pods, Amount slices) {
    for (std::size_t i = 0; i < pods; ++i) {
      state_.workload().AddTask(Pod(job, fmt::format("bench/{}-{}", name, i), slices));
    }
  }

  void Start(const std::string& action, const std::string& queue) {
    action_ = action;
    AddPending("too-low", AddJob("too-low", queue, 1, -1), 1, 7);
    auto made = Scheduler::Make(Evicting(action), state_);
    CHECK(made.has_value());
    scheduler_ = std::move(made->scheduler);
    CHECK(Cycle().result.evictions.empty());
  }

  [[nodiscard]] const ClusterState& state() const { return state_; }

  struct Measured {
    CycleResult result;
    double action = 0;  // seconds of the action that evicts
    double cycle = 0;   // of all of it
  };
  Measured Cycle() {
    Measured measured;
    measured.cycle = SecondsOf([&] {
      scheduler_->Open(Time{}, nullptr);
      double begin = CoreSeconds();
      scheduler_->RunActions([&](const std::string& ran) {
        const double now = CoreSeconds();
        if (ran == action_) measured.action = now - begin;
        begin = now;
      });
      measured.result = scheduler_->Close();
    });
    return measured;
  }

 private:
  JobId AddJob(const std::string& name,
               const std::string& queue,
               std::size_t pods,
               std::int32_t priority,
               TopologySpec topology = {}) {
    JobSpec job;
    job.name = "bench/" + name;
    job.uid = name;
    job.queue = queue;
    job.priority = priority;
    job.min_available = static_cast<std::int32_t>(pods);
    job.topology = std::move(topology);
    return state_.workload().UpsertJob(std::move(job));
  }

  ClusterState state_;
  std::unique_ptr<Scheduler> scheduler_;
  std::string action_;  // that evicts
  std::size_t nodes_;
};

struct Scenario {
  std::string name;
  std::string action;
  Fabric fabric;
  std::function<void(FullCluster&)> runs;   // what a cycle before has seen, not measured
  std::function<void(FullCluster&)> waits;  // who comes then
  std::size_t plans = 0;                    // that the cycle must come to
  int repetitions = 10;
  std::string queue = "default";  // of what runs
};

void RunScenario(benchmark::State& bench, const Scenario& scenario) {
  FullCluster cluster(scenario.fabric);
  cluster.AddQueue("default");
  scenario.runs(cluster);
  cluster.Start(scenario.action, scenario.queue);
  if (scenario.waits) scenario.waits(cluster);
  for (auto iteration : bench) {
    static_cast<void>(iteration);
    const auto [result, action, cycle] = cluster.Cycle();
    bench.SetIterationTime(action);
    bench.counters["cycle_ms"] = 1e3 * cycle;
    if (result.evictions.size() != scenario.plans) bench.SkipWithError("not the expected plans");
    std::size_t pods = 0;
    for (const CycleResult::EvictionPlan& plan : result.evictions) pods += plan.PodCount();
    bench.counters["victims"] = static_cast<double>(pods);
  }
  bench.counters["nodes"] = static_cast<double>(scenario.fabric.nodes);
}

// 10,000 nodes in 1,110 HyperNodes, full of 10,000 gangs of ten tenths of a node.
constexpr std::size_t kLarge = 10'000;

std::function<void(FullCluster&)> Gangs(std::size_t pods, Amount slices, std::int32_t least) {
  return [=](FullCluster& cluster) { cluster.FillWithGangs(pods, slices, "default", least); };
}

std::function<void(FullCluster&)> OneGang(std::size_t pods,
                                          Amount slices,
                                          const TopologySpec& topology) {
  return [=](FullCluster& cluster) {
    cluster.AddWaiting("claimant", "default", pods, slices, topology);
  };
}

std::vector<Scenario> Preemptions() {
  const Fabric large{.nodes = kLarge};
  std::vector<Scenario> all;
  all.push_back({"evict/idle/10k", "gangpreempt", large, Gangs(10, 10, 0), nullptr, 0});
  all.push_back(
      {"evict/gang-64/10k", "gangpreempt", large, Gangs(10, 10, 0), OneGang(64, 10, Hard(3)), 1});
  all.push_back({"evict/gang-64-anywhere/10k",
                 "gangpreempt",
                 large,
                 Gangs(10, 10, 0),
                 OneGang(64, 10, {}),
                 1});
  all.push_back({"evict/gang-1000/10k",
                 "gangpreempt",
                 large,
                 Gangs(10, 10, 0),
                 OneGang(1'000, 10, Hard(3)),
                 1});
  all.push_back({"evict/700-gangs/2k",
                 "gangpreempt",
                 {.nodes = 2'100, .widths = {3, 10, 10}},
                 Gangs(3, 1, 0),
                 OneGang(2'100, 1, {}),
                 1});
  all.push_back({"evict/nobody/10k",
                 "gangpreempt",
                 large,
                 Gangs(10, 10, kImportant),
                 OneGang(64, 10, Hard(3)),
                 0});
  all.push_back({"evict/5000-hopeless/10k",
                 "gangpreempt",
                 large,
                 Gangs(10, 10, kImportant),
                 [](FullCluster& cluster) {
                   for (int i = 0; i < 5'000; ++i) {
                     cluster.AddWaiting(fmt::format("claimant-{}", i), "default", 1, 10);
                   }
                 },
                 0});
  return all;
}

// 500 nodes of eight GPUs, here eighths of a node: 4,000 jobs of one queue run, 4,000 of another
// one wait, and deserve half.
Scenario Reclaims() {
  return {"evict/4000-reclaims/500",
          "gangreclaim",
          {.nodes = 500},
          [](FullCluster& cluster) {
            cluster.AddQueue("rich");
            cluster.AddQueue("poor");
            cluster.FillWithGangs(1, 8, "rich", 0);
          },
          [](FullCluster& cluster) {
            for (int i = 0; i < 4'000; ++i) {
              cluster.AddWaiting(fmt::format("claimant-{}", i), "poor", 1, 8);
            }
          },
          2'000,
          3,
          "rich"};
}

// What is kept of running jobs, as a part of the state: 400,000 pods in gangs of eight, in 25
// queues and 8 levels.
void Memory(benchmark::State& bench) {
  constexpr std::size_t kNodes = 100'000;
  constexpr std::size_t kQueues = 25;
  for (auto iteration : bench) {
    static_cast<void>(iteration);
    const std::size_t before = HeapInUse();
    FullCluster cluster({.nodes = kNodes});
    for (std::size_t i = 0; i < kQueues; ++i) cluster.AddQueue(fmt::format("queue-{}", i));
    cluster.FillWithGangs(8, 4, "", 0, kQueues);
    const std::size_t with_pods = HeapInUse();
    VictimBook book;
    book.Refresh(cluster.state());
    const std::size_t with_book = HeapInUse();
    const auto kept = static_cast<double>(with_book - with_pods);
    bench.counters["percent"] = 100 * kept / static_cast<double>(with_pods - before);
    bench.counters["bytes_per_node"] = kept / kNodes;
    bench.counters["bytes_per_pod"] = kept / (4.0 * kNodes);
    bench.SetIterationTime(1);
  }
  bench.counters["nodes"] = static_cast<double>(kNodes);
}

void Register() {
  Repeat(benchmark::RegisterBenchmark("evict/memory/100k", Memory), 1);
  std::vector<Scenario> all = Preemptions();
  all.push_back(Reclaims());
  for (const Scenario& scenario : all) {
    Repeat(benchmark::RegisterBenchmark(
               scenario.name.c_str(),
               [scenario](benchmark::State& bench) { RunScenario(bench, scenario); }),
           scenario.repetitions);
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
