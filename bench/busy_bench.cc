// A busy tenant: 400 gangs of 20 that want to be near to themselves wait in one queue, every cycle
// finds them all awake, and a plain pod arrives in another queue.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/check.h"
#include "bench/clusters.h"
#include "bench/measure.h"
#include "sched/scheduler.h"

namespace strata::bench {
namespace {

constexpr std::size_t kNodes = 5'000;
constexpr std::size_t kRack = 100;  // nodes
constexpr std::size_t kFree = 19;   // nodes of each rack: too few for a gang of whole nodes
constexpr std::size_t kGangs = 400;
constexpr std::size_t kGang = 20;                 // pods
constexpr std::uint64_t kWorkPerCycle = 400'000;  // SchedulerOptions::work_per_cycle
const std::string kRackLabel = "example.com/rack";

class BusyCluster {
 public:
  BusyCluster() {
    AddFabric(state_, {.nodes = kNodes, .widths = {kRack, 10}});
    LabelRacks();
    AddQueue("busy");
    AddQueue("other");
    for (std::size_t i = 0; i < kNodes; ++i) {
      if (i % kRack >= kFree) Occupy(i);
    }
    for (std::size_t i = 0; i < kGangs; ++i) AddGangNearItself(fmt::format("gang-{}", i));
    auto made = Scheduler::Make(DefaultSchedulerConfig(), state_);
    CHECK(made.has_value());
    scheduler_ = std::move(made->scheduler);
  }

  void LimitWork() { scheduler_->LimitWork(kWorkPerCycle); }

  CycleResult Cycle() {
    scheduler_->Open(Time{}, nullptr);
    scheduler_->RunActions();
    CycleResult result = scheduler_->Close();
    for (const CycleResult::Bind& bind : result.binds) {
      state_.workload().SetTaskStatus(bind.task, TaskStatus::kRunning);
    }
    return result;
  }

  // A pod of the busy tenant ends, and one starts on the neighbour of its node: that may help every
  // gang, and helps none.
  void MoveOnePod() {
    const std::size_t rack = moves_ % (kNodes / kRack) * kRack;
    const std::size_t full = rack + kFree + moves_ / (kNodes / kRack) % kFree;
    const std::size_t free = rack + moves_ / (kNodes / kRack) % kFree;
    ++moves_;
    const auto tasks = state_.nodes().TasksOn(NodeAt(full));
    CHECK(!tasks.empty());
    state_.workload().RemoveTask(tasks.front());
    Occupy(free);
  }

  TaskId AddPlainPod() {
    const JobId job = AddJob("pod", "other", 1);
    return state_.workload().AddTask(Pod(job, "ns/pod", 64));
  }

 private:
  [[nodiscard]] static std::string NameOf(std::size_t node) {
    return fmt::format("node-{:06}", node);
  }
  [[nodiscard]] NodeId NodeAt(std::size_t node) const { return *state_.nodes().Find(NameOf(node)); }

  void LabelRacks() {
    for (std::size_t i = 0; i < kNodes; ++i) {
      NodeSpec spec = state_.nodes().spec(NodeAt(i));
      spec.labels = {{kRackLabel, std::to_string(i / kRack)}};
      CHECK(state_.UpsertNode(std::move(spec)).has_value());
    }
  }
  void AddQueue(const std::string& name) {
    QueueSpec queue;
    queue.name = name;
    queue.uid = name;
    state_.workload().UpsertQueue(std::move(queue));
  }
  JobId AddJob(const std::string& name, const std::string& queue, std::size_t pods) {
    JobSpec job;
    job.name = "ns/" + name;
    job.uid = name;
    job.queue = queue;
    job.min_available = static_cast<std::int32_t>(pods);
    return state_.workload().UpsertJob(std::move(job));
  }
  void Occupy(std::size_t node) {
    TaskSpec pod = Pod(JobId{}, fmt::format("ns/runs-{}", ++pods_), 1);
    pod.status = TaskStatus::kRunning;
    pod.node_name = NameOf(node);
    state_.workload().AddTask(std::move(pod));
  }
  void AddGangNearItself(const std::string& name) {
    const JobId job = AddJob(name, "busy", kGang);
    for (std::size_t i = 0; i < kGang; ++i) {
      TaskSpec pod = Pod(job, fmt::format("ns/{}-w-{}", name, i), 1);
      pod.constraints.identity = {.ns = "ns", .labels = {{"gang", name}}};
      pod.constraints.rules.affinity.push_back(
          {.selector = LabelSelector{{{"gang", SelectorOp::kIn, {name}}}},
           .namespaces = {"ns"},
           .every_namespace = false,
           .topology_key = kRackLabel});
      state_.workload().AddTask(std::move(pod));
    }
  }

  ClusterState state_;
  std::unique_ptr<Scheduler> scheduler_;
  std::size_t moves_ = 0;
  std::size_t pods_ = 0;
};

// The pod arrives when a cycle has just begun, which is the worst moment: it waits for the end of
// that cycle, and for the whole of the next one.
void PlainPodWaits(benchmark::State& bench) {
  BusyCluster cluster;
  cluster.LimitWork();
  for (int i = 0; i < 3; ++i) {
    cluster.Cycle();
    cluster.MoveOnePod();
  }
  for (auto iteration : bench) {
    static_cast<void>(iteration);
    double seconds = SecondsOf([&] { cluster.Cycle(); });
    const TaskId pod = cluster.AddPlainPod();
    cluster.MoveOnePod();
    CycleResult result;
    seconds += SecondsOf([&] { result = cluster.Cycle(); });
    bench.SetIterationTime(seconds);
    if (result.binds.size() != 1 || result.binds.front().task != pod) {
      bench.SkipWithError("the pod was not placed, or a gang was");
    }
  }
}

// The same cycle without a budget: every gang is tried.
void WholeCycle(benchmark::State& bench) {
  BusyCluster cluster;
  for (auto iteration : bench) {
    static_cast<void>(iteration);
    bench.SetIterationTime(SecondsOf([&] { cluster.Cycle(); }));
  }
}

}  // namespace
}  // namespace strata::bench

int main(int argc, char** argv) {
  using strata::bench::Repeat;
  Repeat(benchmark::RegisterBenchmark("busy/plain-pod-waits", strata::bench::PlainPodWaits), 50);
  Repeat(benchmark::RegisterBenchmark("busy/cycle-without-budget", strata::bench::WholeCycle), 3);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
