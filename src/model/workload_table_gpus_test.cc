// What tasks with shares of GPUs count as, and what nodes count that register GPUs.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/cluster_state.h"
#include "model/gpu_amounts.h"
#include "tests/support/cluster_builder.h"
#include "tests/support/recount.h"
#include "tests/support/state_dump.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using testing::DumpState;
using testing::RecountMistakes;

class SharedGpus : public ::testing::Test {
 protected:
  // Eight GPUs "<node>-<i>" of which ten containers may share each.
  NodeSpec Machine(const std::string& name, std::int64_t memory_mib, const char* type = "A100") {
    NodeSpec spec = cluster_.SpecOf(name, {.cpu = 64, .memory = 512, .gpu = 80});
    spec.gpus.emplace();
    for (int i = 0; i < 8; ++i) {
      Gpu& gpu = spec.gpus->gpus.emplace_back();
      gpu.uuid = name + "-" + std::to_string(i);
      gpu.index = i;
      gpu.slots = 10;
      gpu.memory_mib = memory_mib;
      gpu.cores = 100;
      gpu.type = type;
      gpu.mode = "hami-core";
      gpu.healthy = true;
    }
    return spec;
  }
  void Put(NodeSpec spec) {
    CHECK(cluster_.state.UpsertNode(std::move(spec)).has_value());
    cluster_.state.CountShares();
  }

  ClassSpec Share(std::int64_t memory_mib) {
    ClassSpec spec = cluster_.ClassOf({.cpu = 1, .memory = 1, .gpu = 1});
    spec.gpus.emplace();
    spec.gpus->containers = {{.container = "main", .count = 1, .memory_mib = memory_mib}};
    spec.gpus->policy.order = {GpuOrder::kSpread};
    return spec;
  }
  TaskId Add(ClassSpec spec, const std::string& node = "", const GpuClaim& claim = {}) {
    if (!cluster_.state.workload().FindJob("job")) cluster_.Job("job", {.tasks = 0});
    TaskSpec task;
    task.name = task.uid = "ns/pod-" + std::to_string(++tasks_);
    task.job = cluster_.FindJob("job");
    task.constraints = std::move(spec);
    task.status = node.empty() ? TaskStatus::kPending : TaskStatus::kRunning;
    task.node_name = node;
    task.gpus = claim;
    return cluster_.state.workload().AddTask(std::move(task));
  }
  static GpuClaim On(const std::string& uuid, std::int64_t memory_mib) {
    GpuClaim claim;
    claim.containers = {{{.uuid = uuid, .memory_mib = memory_mib}}};
    return claim;
  }

  [[nodiscard]] Amount Counted(TaskId id) {
    return cluster_.state.workload().CountedOf(id).Get(cluster_.Gpu());
  }
  [[nodiscard]] Amount Of(std::span<const Amount> row) { return row[cluster_.Gpu().index()]; }
  [[nodiscard]] const Queue& TheQueue() {
    const WorkloadTable& workload = cluster_.state.workload();
    return workload.queue(*workload.FindQueue("default"));
  }
  [[nodiscard]] const NodeTable& nodes() { return cluster_.state.nodes(); }

  ClusterBuilder cluster_;
  int tasks_ = 0;
};

TEST_F(SharedGpus, ANodeHasTheGpusThatItRegistersAndRoomForTheirShares) {
  Put(Machine("a", 80'000));
  const NodeId a = cluster_.FindNode("a");
  EXPECT_EQ(Of(nodes().Allocatable(a)), 8000);
  EXPECT_EQ(Of(nodes().Idle(a)), 80'000);
  EXPECT_EQ(Of(nodes().Largest()), 80'000);
  EXPECT_EQ(Of(cluster_.state.sums().Allocatable(cluster_.state.tree().top())), 8000);
  EXPECT_EQ(nodes().RegisteredGpus(), cluster_.Gpu());
}

TEST_F(SharedGpus, ANodeWhoseKubeletHandsOutFewerHasNoMore) {
  NodeSpec spec = Machine("a", 80'000);
  spec.allocatable.Set(cluster_.Gpu(), 0);
  Put(spec);
  EXPECT_EQ(Of(nodes().Allocatable(cluster_.FindNode("a"))), 0);
}

TEST_F(SharedGpus, ATaskThatWaitsCountsByTheSmallestGpuThatItMayUse) {
  Put(Machine("a", 80'000));
  const TaskId any = Add(Share(8'000));
  ClassSpec picky = Share(8'000);
  picky.gpus->use_types = {"a100"};
  ClassSpec bound = Share(8'000);
  bound.node_selector = {{"pool", "a"}};
  const TaskId by_type = Add(picky);
  const TaskId by_label = Add(bound);
  const TaskId large = Add(Share(20'000));
  EXPECT_EQ(Counted(any), 100);
  EXPECT_EQ(TheQueue().pending.Get(cluster_.Gpu()),
            100 + 100 + 1000 + 250);  // no node has the label
  NodeSpec labelled = Machine("a", 80'000);
  labelled.labels = Labels{{"pool", "a"}};
  Put(labelled);
  Put(Machine("b", 16'000, "T4"));
  EXPECT_EQ(Counted(any), 500);
  EXPECT_EQ(Counted(by_type), 100);
  EXPECT_EQ(Counted(by_label), 100);
  EXPECT_EQ(Counted(large), 250);  // more than a T4 has
  EXPECT_EQ(TheQueue().pending.Get(cluster_.Gpu()), 950);
  EXPECT_EQ(RecountMistakes(cluster_.state), "");
  cluster_.state.RemoveNode(cluster_.FindNode("b"));
  cluster_.state.CountShares();
  EXPECT_EQ(Counted(any), 100);
  EXPECT_EQ(RecountMistakes(cluster_.state), "");
}

TEST_F(SharedGpus, ATaskCountsByTheGpuThatItGot) {
  Put(Machine("a", 80'000));
  Put(Machine("b", 16'000, "T4"));
  const TaskId id = Add(Share(8'000));
  const NodeId a = cluster_.FindNode("a");
  EXPECT_EQ(Counted(id), 500);
  const std::string before = DumpState(cluster_.state);
  cluster_.state.journal().Allocate(id, a, On("a-3", 8'000));
  EXPECT_EQ(Counted(id), 100);
  EXPECT_EQ(Of(nodes().Used(a)), 100);
  EXPECT_EQ(Of(nodes().Idle(a)), 79'000);
  EXPECT_EQ(TheQueue().allocated.Get(cluster_.Gpu()), 100);
  EXPECT_EQ(TheQueue().pending.Get(cluster_.Gpu()), 0);
  EXPECT_EQ(RecountMistakes(cluster_.state), "");
  cluster_.state.journal().RollbackTo(0);
  EXPECT_EQ(DumpState(cluster_.state), before);
  EXPECT_EQ(Counted(id), 500);
}

TEST_F(SharedGpus, NeitherSumsNorRoundingRefuseWhatTheGpusAllow) {
  Put(Machine("a", 80'000));
  for (int i = 0; i < 3; ++i) Add(Share(26'666), "a", On("a-0", 26'666));  // 334 thousandths each
  EXPECT_EQ(Of(nodes().Used(cluster_.FindNode("a"))), 1002);
  EXPECT_EQ(Of(nodes().Idle(cluster_.FindNode("a"))), 77'000);
}

TEST_F(SharedGpus, OnANodeThatRegistersNothingTheyCountAsPlainNumbers) {
  cluster_.Node("plain", {.cpu = 64, .memory = 512, .gpu = 8});
  const TaskId alone = Add(Share(8'000));
  EXPECT_EQ(Counted(alone), 1000);
  Put(Machine("a", 80'000));
  EXPECT_EQ(Counted(alone), 100);
  const TaskId there = Add(Share(8'000), "plain");
  EXPECT_EQ(Counted(there), 1000);
  EXPECT_EQ(Of(nodes().Used(cluster_.FindNode("plain"))), 1000);
  EXPECT_EQ(Of(nodes().Idle(cluster_.FindNode("plain"))), 7000);
  EXPECT_EQ(RecountMistakes(cluster_.state), "");
}

TEST_F(SharedGpus, ARegistrationMayComeAndGoWhileTasksRun) {
  cluster_.Node("a", {.cpu = 64, .memory = 512, .gpu = 80});
  const NodeId a = cluster_.FindNode("a");
  const TaskId id = Add(Share(8'000), "a", On("a-3", 8'000));
  EXPECT_EQ(Of(nodes().Used(a)), 1000);
  EXPECT_EQ(Of(nodes().Allocatable(a)), 80'000);
  Put(Machine("a", 80'000));
  EXPECT_EQ(Counted(id), 100);
  EXPECT_EQ(Of(nodes().Used(a)), 100);
  EXPECT_EQ(Of(nodes().Allocatable(a)), 8000);
  EXPECT_EQ(TheQueue().allocated.Get(cluster_.Gpu()), 100);
  EXPECT_EQ(RecountMistakes(cluster_.state), "");
  Put(Machine("a", 40'000));
  EXPECT_EQ(Of(nodes().Used(a)), 200);
  Put(cluster_.SpecOf("a", {.cpu = 64, .memory = 512, .gpu = 80}));
  EXPECT_EQ(Of(nodes().Used(a)), 1000);
  EXPECT_EQ(RecountMistakes(cluster_.state), "");
}

TEST_F(SharedGpus, AGpuThatIsNotRegisteredAnyMoreIsCountedAsBefore) {
  Put(Machine("a", 80'000));
  const TaskId id = Add(Share(8'000), "a", On("gone", 8'000));
  EXPECT_EQ(Counted(id), 100);
  cluster_.state.RemoveNode(cluster_.FindNode("a"));
  Put(Machine("b", 16'000));
  EXPECT_EQ(Counted(id), 500);  // its node is gone, too
  EXPECT_EQ(RecountMistakes(cluster_.state), "");
}

TEST_F(SharedGpus, WholeGpusAreWholeNumbersEverywhere) {
  Put(Machine("a", 80'000));
  ClassSpec whole = cluster_.ClassOf({.gpu = 2});
  whole.gpus.emplace();
  whole.gpus->containers = {{.container = "main", .count = 2, .cores = 100}};
  const TaskId id = Add(whole, "a", On("a-0", 80'000));
  EXPECT_EQ(Counted(id), 2000);
  EXPECT_EQ(&cluster_.state.workload().CountedOf(id),
            &cluster_.state.classes().spec(cluster_.state.workload().task(id).class_id).request);
}

TEST_F(SharedGpus, AQueueThatComesLaterCountsTheSame) {
  Put(Machine("a", 80'000));
  JobSpec job;
  job.name = "job";
  job.queue = "late";
  cluster_.state.workload().UpsertJob(job);
  Add(Share(8'000), "a", On("a-0", 8'000));
  Add(Share(16'000));
  cluster_.Queue("late");
  const Queue& late = cluster_.state.workload().queue(*cluster_.state.workload().FindQueue("late"));
  EXPECT_EQ(late.allocated.Get(cluster_.Gpu()), 100);
  EXPECT_EQ(late.pending.Get(cluster_.Gpu()), 200);
}

// ---- Volcano's dialect ----

class Vgpus : public SharedGpus {
 protected:
  // The same machine, registered in Volcano's dialect, too or instead.
  NodeSpec Registered(const std::string& name, bool in_hami) {
    NodeSpec spec = Machine(name, 80'000);
    for (Gpu& gpu : spec.gpus->gpus) {
      gpu.in_hami = in_hami;
      gpu.in_volcano = true;
    }
    spec.gpus->hami.registered = in_hami;
    spec.gpus->volcano.registered = true;
    if (!in_hami) spec.allocatable.Set(cluster_.Gpu(), 0);
    spec.allocatable.Set(Vgpu(), 80'000);
    return spec;
  }
  ResourceId Vgpu() { return cluster_.state.resource_names().Intern(kVgpuResource); }
  ClassSpec VgpuShare(std::int64_t memory_mib) {
    ClassSpec spec = Share(memory_mib);
    spec.gpus->dialect = GpuDialect::kVolcano;
    spec.request.Set(cluster_.Gpu(), 0);
    spec.request.Set(Vgpu(), 1000);
    return spec;
  }
};

TEST_F(Vgpus, CountAsGpusAndNeverByTheirOwnName) {
  Put(Registered("a", false));
  const TaskId share = Add(VgpuShare(8'000));
  ClassSpec whole = VgpuShare(0);
  whole.gpus->containers[0].count = 2;
  whole.request.Set(Vgpu(), 2000);
  const TaskId pair = Add(whole, "a");
  EXPECT_EQ(Counted(share), 100);
  EXPECT_EQ(Counted(pair), 2000);
  EXPECT_EQ(cluster_.state.workload().CountedOf(pair).Get(Vgpu()), 0);
  const NodeId a = cluster_.FindNode("a");
  EXPECT_EQ(Of(nodes().Allocatable(a)), 8000);
  EXPECT_EQ(nodes().Allocatable(a)[Vgpu().index()], 0);
  EXPECT_EQ(Of(nodes().Used(a)), 2000);
  EXPECT_EQ(nodes().Idle(a)[Vgpu().index()], 78'000) << "room is in the kubelet's unit";
  EXPECT_EQ(RecountMistakes(cluster_.state), "");
}

TEST_F(Vgpus, AGpuOfBothDialectsIsOne) {
  Put(Registered("a", true));
  const NodeId a = cluster_.FindNode("a");
  EXPECT_EQ(Of(nodes().Allocatable(a)), 8000);
  Add(Share(8'000), "a", On("a-0", 8'000));
  Add(VgpuShare(40'000), "a", On("a-0", 40'000));
  EXPECT_EQ(Of(nodes().Used(a)), 600);
  EXPECT_EQ(RecountMistakes(cluster_.state), "");
}

TEST_F(Vgpus, WithoutGpusOfTheirDialectCountAsWholeOnes) {
  Put(Machine("a", 80'000));
  EXPECT_EQ(Counted(Add(VgpuShare(8'000))), 1000);
  EXPECT_EQ(Counted(Add(Share(8'000))), 100);
  EXPECT_EQ(RecountMistakes(cluster_.state), "");
}

}  // namespace
}  // namespace strata
