#include "sched/plugins/deviceshare.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/gpu_machines.h"
#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata::testing {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using Uuids = std::vector<std::string>;

// A cluster of GPU machines, and what its pods hold.
class GpuCluster {
 public:
  GpuCluster& Machine(const std::string& node, const std::string& machine) {
    NodeSpec spec = builder.SpecOf(node, {.cpu = 64, .memory = 512, .gpu = 80});
    spec.gpus = MakeNodeGpus(*FindGpuMachine(machine), node);
    CHECK(builder.state.UpsertNode(std::move(spec)).has_value());
    return *this;
  }

  static GpuRequest Asking(std::int32_t count, bool topology_aware) {
    GpuRequest request;
    request.containers = {{.container = "main", .count = count, .cores = 100}};
    request.policy.order = {GpuOrder::kSpread};
    request.policy.topology_aware = topology_aware;
    return request;
  }

  // A job of `pods` that ask for `count` whole GPUs each.
  GpuCluster& Job(const std::string& name, int pods, const GpuRequest& request) {
    AddJob(name, pods, request, {{builder.Gpu(), request.containers[0].count * 1000}});
    return *this;
  }
  // A job of pods that request these amounts.
  void AddJob(const std::string& name,
              int pods,
              const GpuRequest& request,
              const std::vector<std::pair<ResourceId, Amount>>& amounts) {
    JobSpec job;
    job.name = job.uid = name;
    job.queue = "default";
    job.min_available = pods;
    job.created = Time(std::chrono::seconds(++jobs_));
    builder.Queue("default");
    const JobId id = builder.state.workload().UpsertJob(std::move(job));
    for (int i = 0; i < pods; ++i) {
      TaskSpec task = Spec(name + "-w-" + std::to_string(i), id, request);
      for (const auto& [resource, amount] : amounts) task.constraints.request.Set(resource, amount);
      builder.state.workload().AddTask(std::move(task));
    }
  }

  // A pod of nobody's that holds GPUs of a node.
  GpuCluster& Holding(const std::string& node,
                      const std::vector<std::size_t>& gpus,
                      TaskStatus status = TaskStatus::kRunning) {
    TaskSpec task = Spec("other-" + std::to_string(++jobs_), {}, Asking(1, false));
    task.status = status;
    task.node_name = node;
    task.constraints.request.Set(builder.Gpu(), static_cast<Amount>(gpus.size()) * 1000);
    std::vector<GpuShare> shares;
    const NodeGpus& registered = *builder.state.nodes().spec(builder.FindNode(node)).gpus;
    for (const std::size_t at : gpus) {
      const Gpu& gpu = registered.gpus[at];
      shares.push_back({.uuid = gpu.uuid, .memory_mib = gpu.memory_mib, .cores = 100});
    }
    task.gpus.containers = {shares};
    builder.state.workload().AddTask(std::move(task));
    return *this;
  }

  [[nodiscard]] Uuids Has(const std::string& pod) const {
    Uuids uuids;
    for (const auto& shares : builder.state.workload().GpusOf(builder.FindTask(pod)).containers) {
      for (const GpuShare& share : shares) uuids.push_back(share.uuid);
    }
    return uuids;
  }

  ClusterBuilder builder;

 private:
  TaskSpec Spec(const std::string& name, JobId job, const GpuRequest& request) {
    TaskSpec task;
    task.name = task.uid = name;
    task.job = job;
    task.constraints = builder.ClassOf({});
    task.constraints.gpus = request;
    return task;
  }

  int jobs_ = 0;
};

TEST(Deviceshare, GivesEachPodItsGpus) {
  GpuCluster cluster;
  cluster.Machine("a", "dgx1v").Job("train", 2, GpuCluster::Asking(2, true));
  EXPECT_EQ(RunCycle(cluster.builder.state).binds.size(), 2U);
  EXPECT_THAT(cluster.Has("train-w-0"), ElementsAre("GPU-a-2", "GPU-a-3"));
  EXPECT_THAT(cluster.Has("train-w-1"), ElementsAre("GPU-a-6", "GPU-a-7"));
}

TEST(Deviceshare, AReusedClassIdDoesNotInheritCachedAnswers) {
  GpuCluster cluster;
  cluster.Machine("n0", "dgx1v").Job("large", 1, GpuCluster::Asking(9, false));
  ClusterState& state = cluster.builder.state;
  Cycles cycles(state);
  ASSERT_THAT(cycles.Run().binds, IsEmpty());
  state.workload().RemoveJob(cluster.builder.FindJob("large"));
  state.workload().ForgetIdleClasses(0);
  cluster.Job(
      "small", 1, GpuCluster::Asking(1, false));  // may have the place in memory of the other
  EXPECT_THAT(cycles.Run().binds, SizeIs(1));
}

TEST(Deviceshare, AGangThatNoEmptyClusterHoldsNeverStarts) {
  GpuCluster cluster;  // kubelets hand out ten shares of each of the sixteen GPUs
  cluster.Machine("a", "dgx1v").Machine("b", "dgx1v");
  cluster.Job("train", 3, GpuCluster::Asking(8, false));
  const Decisions decisions = RunCycle(cluster.builder.state);
  EXPECT_EQ(decisions.Reason("train"), "GangLargerThanCluster");
  EXPECT_THAT(decisions.Message("train"), HasSubstr("takes 2 of 3 pods when it is empty"));
}

TEST(Deviceshare, AnEmptyGpuHoldsAsManySharesAsItsMemoryAndCoresAllow) {
  GpuCluster cluster;
  GpuRequest halves = GpuCluster::Asking(1, false);
  halves.containers[0].memory_mib = 8192;
  halves.containers[0].cores = 40;
  GpuRequest two_containers = GpuCluster::Asking(4, false);
  two_containers.containers.push_back(two_containers.containers[0]);
  cluster.Machine("a", "dgx1v").Job("halves", 17, halves).Job("twice", 2, two_containers);
  const Decisions decisions = RunCycle(cluster.builder.state);
  EXPECT_THAT(decisions.Message("halves"), HasSubstr("takes 16 of 17 pods when it is empty"));
  EXPECT_THAT(decisions.Message("twice"), HasSubstr("takes 1 of 2 pods when it is empty"));
}

TEST(Deviceshare, APodThatWantsMoreMemoryThanAnyGpuHasNeverStarts) {
  GpuCluster cluster;
  GpuRequest request = GpuCluster::Asking(1, false);
  request.containers[0].memory_mib = 900'000;
  cluster.Machine("a", "dgx1v").Job("train", 1, request);
  const Decisions decisions = RunCycle(cluster.builder.state);
  EXPECT_EQ(decisions.Reason("train"), "PodLargerThanNode");
  EXPECT_THAT(decisions.Message("train"),
              HasSubstr("900000 MiB of a GPU's memory requested, the largest GPU has 16384"));
}

TEST(Deviceshare, PrefersTheNodeWithTheBetterConnectedFreeSet) {
  GpuCluster cluster;
  cluster.Machine("a", "dgx1v").Machine("b", "dgx1v");
  cluster.Holding("a", {2, 7}).Holding("b", {0, 5});  // a: 0-3 broken up; b: 2-3 and 6-7 are whole
  cluster.Job("train", 1, GpuCluster::Asking(2, true));
  const Decisions decisions = RunCycle(cluster.builder.state);
  EXPECT_EQ(decisions.binds.at("train-w-0"), "b");
  EXPECT_THAT(cluster.Has("train-w-0"), ElementsAre("GPU-b-2", "GPU-b-3"));
}

TEST(Deviceshare, SendsASingleGpuWhereItDoesLeastDamage) {
  GpuCluster cluster;
  cluster.Machine("a", "a100br4").Machine("b", "a100br4").Holding("b", {0});
  cluster.Job("one", 1, GpuCluster::Asking(1, true));
  EXPECT_EQ(RunCycle(cluster.builder.state).binds.at("one-w-0"), "b");
  EXPECT_THAT(cluster.Has("one-w-0"), ElementsAre("GPU-b-1"));
}

TEST(Deviceshare, PacksNodesUnlessThePodWantsThemSpread) {
  for (const GpuNodePolicy policy : {GpuNodePolicy::kBinpack, GpuNodePolicy::kSpread}) {
    GpuCluster cluster;
    cluster.Machine("a", "pcie8").Machine("b", "pcie8").Holding("a", {0, 1});
    GpuRequest request = GpuCluster::Asking(1, false);
    request.node_policy = policy;
    cluster.Job("one", 1, request);
    EXPECT_EQ(RunCycle(cluster.builder.state).binds.at("one-w-0"),
              policy == GpuNodePolicy::kBinpack ? "a" : "b");
  }
}

TEST(Deviceshare, GivesGpusBackWhenAGangDoesNotFit) {
  GpuCluster cluster;
  cluster.Machine("a", "dgx1v").Holding("a", {0});
  cluster.Job("train", 2, GpuCluster::Asking(4, true));
  const Decisions decisions = RunCycle(cluster.builder.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_THAT(cluster.Has("train-w-0"), IsEmpty());
  EXPECT_EQ(decisions.Reason("train"), "NotEnoughResources");
  EXPECT_THAT(decisions.Message("train"), HasSubstr("1 of 2 pods fit"));
}

TEST(Deviceshare, ARollbackLeavesNoTraceOfGpus) {
  GpuCluster cluster;
  cluster.Machine("a", "dgx1v").Job("train", 1, GpuCluster::Asking(1, false));
  ClusterState& state = cluster.builder.state;
  const TaskId task = cluster.builder.FindTask("train-w-0");
  const auto mark = state.journal().Mark();
  state.journal().Allocate(
      task, cluster.builder.FindNode("a"), {.containers = {{{.uuid = "GPU-a-1"}}}});
  EXPECT_THAT(cluster.Has("train-w-0"), ElementsAre("GPU-a-1"));
  state.journal().RollbackTo(mark);
  EXPECT_TRUE(state.workload().GpusOf(task).empty());
  state.journal().Pipeline(
      task, cluster.builder.FindNode("a"), {.containers = {{{.uuid = "GPU-a-1"}}}});
  state.journal().Hold();
  state.journal().ReleaseHeld();
  EXPECT_TRUE(state.workload().GpusOf(task).empty());
}

TEST(Deviceshare, WaitsForGpusThatAreBeingReleased) {
  GpuCluster cluster;
  cluster.Machine("a", "a100br4").Holding("a", {0, 1}, TaskStatus::kReleasing).Holding("a", {2});
  cluster.Job("train", 1, GpuCluster::Asking(2, true));
  Cycles cycles(cluster.builder.state);
  Uuids waiting_for;
  const Decisions first = cycles.Run(nullptr, [&] { waiting_for = cluster.Has("train-w-0"); });
  EXPECT_EQ(first.pipelined.at("train-w-0"), "a");
  EXPECT_THAT(waiting_for, ElementsAre("GPU-a-0", "GPU-a-1"));
  EXPECT_THAT(cluster.Has("train-w-0"), IsEmpty());
  Advance(cluster.builder.state);
  EXPECT_EQ(cycles.Run().binds.size(), 1U);
  EXPECT_THAT(cluster.Has("train-w-0"), ElementsAre("GPU-a-0", "GPU-a-1"));
}

TEST(Deviceshare, DoesNotGiveAwayGpusThatAnotherPodWaitsFor) {
  GpuCluster cluster;
  cluster.Machine("a", "a100br4").Holding("a", {0, 1, 2}, TaskStatus::kReleasing);
  cluster.Job("first", 1, GpuCluster::Asking(4, true)).Job("later", 1, GpuCluster::Asking(1, true));
  const Decisions decisions = RunCycle(cluster.builder.state);
  EXPECT_EQ(decisions.pipelined.count("first-w-0"), 1U);
  EXPECT_THAT(decisions.binds, IsEmpty());
}

TEST(Deviceshare, NamesTheGpusThatDoNotFit) {
  GpuCluster cluster;
  cluster.Machine("a", "a100br4").Holding("a", {0, 1, 2});
  cluster.Job("train", 1, GpuCluster::Asking(2, true));
  EXPECT_THAT(RunCycle(cluster.builder.state).Message("train"),
              HasSubstr("1 node(s) without suitable GPUs: 1/4 AllocatedCardsInsufficientRequest, "
                        "3/4 CardInUse"));
}

TEST(Deviceshare, RefusesARequestThatIsNotANumber) {
  GpuCluster cluster;
  cluster.Machine("a", "a100br4");
  GpuRequest request = GpuCluster::Asking(1, false);
  request.problem = "container main: nvidia.com/gpumem 500m: want a whole number";
  cluster.Job("train", 1, request);
  EXPECT_THAT(RunCycle(cluster.builder.state).Message("train"), HasSubstr("gpumem 500m"));
}

TEST(Deviceshare, OffersNoGpusOfANodeThatCannotBeRead) {
  GpuCluster cluster;
  cluster.Machine("a", "a100br4");
  NodeSpec broken = cluster.builder.state.nodes().spec(cluster.builder.FindNode("a"));
  broken.gpus->gpus.clear();
  broken.gpus->scores = {};
  broken.gpus->hami.problem = "annotation hami.io/node-nvidia-register: broken";
  CHECK(cluster.builder.state.UpsertNode(broken).has_value());
  cluster.Job("train", 1, GpuCluster::Asking(1, false));
  cluster.builder.Job("plain", {});
  const Decisions decisions = RunCycle(cluster.builder.state);
  EXPECT_THAT(decisions.Message("train"), HasSubstr("offer no GPUs: annotation hami.io"));
  EXPECT_EQ(decisions.binds.at("plain-w-0"), "a");
}

TEST(Deviceshare, UsesANodeWithoutRegisteredGpusByCount) {
  GpuCluster cluster;
  cluster.builder.Node("a", {.gpu = 4});
  cluster.Job("train", 1, GpuCluster::Asking(4, true));
  EXPECT_EQ(RunCycle(cluster.builder.state).binds.at("train-w-0"), "a");
  EXPECT_THAT(cluster.Has("train-w-0"), IsEmpty());
}

TEST(Deviceshare, TellsTheListenerWhichLinksAPodGot) {
  GpuCluster cluster;
  cluster.Machine("a", "dgx1v").Holding("a", {2, 6}).Job("train", 1, GpuCluster::Asking(2, true));
  TraceLog log;
  RunCycle(cluster.builder.state, DefaultSchedulerConfig(), &log);
  const auto steps = log.Of<StepRecord>();
  ASSERT_TRUE(steps.front().devices.has_value());
  const DeviceRecord::Container& main = steps.front().devices->containers.front();
  EXPECT_EQ(main.name, "main");
  EXPECT_THAT(main.links, ElementsAre("0-3 NV2+PHB"));
  EXPECT_EQ(main.score, 230);
  EXPECT_EQ(main.best, 250);
}

// Two machines of eight GPUs, and a quota of the namespace "team".
struct ClusterWithQuota : GpuCluster {
  explicit ClusterWithQuota(const GpuLimits& limits) {
    Machine("a", "pcie8").Machine("b", "pcie8");
    builder.state.quotas().Upsert({.name = "team/gpus", .hard = {}, .used = {}, .gpus = limits});
  }
};

GpuRequest OfTeam(std::int32_t count) {
  GpuRequest request = GpuCluster::Asking(count, true);
  request.quota_namespace = "team";
  return request;
}

TEST(Deviceshare, CountsAgainstTheQuotaWhatANamespaceHoldsOnAllNodes) {
  ClusterWithQuota cluster({.gpus = 10});
  cluster.Job("team/first", 1, OfTeam(8)).Job("team/second", 1, OfTeam(4));
  cluster.Job("team/third", 1, OfTeam(2)).Job("else/free", 1, GpuCluster::Asking(4, true));
  const Decisions decisions = RunCycle(cluster.builder.state);
  EXPECT_THAT(
      decisions.binds,
      ElementsAre(Pair("else/free-w-0", _), Pair("team/first-w-0", _), Pair("team/third-w-0", _)));
  EXPECT_EQ(decisions.Reason("team/second"), "NoMatchingNode");
  EXPECT_THAT(decisions.Message("team/second"),
              HasSubstr("8/8 ResourceQuotaNotFit (ResourceQuota team/gpus: 4 nvidia.com/gpu "
                        "requested, 8 in use, its limit is 10)"));
}

TEST(Deviceshare, AGangBeyondTheQuotaOfItsNamespaceStartsNoPod) {
  ClusterWithQuota cluster({.cores = 300});
  cluster.Job("team/gang", 4, OfTeam(1));
  const Decisions decisions = RunCycle(cluster.builder.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_EQ(cluster.builder.state.workload().GpusIn("team"), GpuTotals{});
  EXPECT_THAT(decisions.Message("team/gang"), HasSubstr("3 of 4 pods fit"));
  EXPECT_THAT(decisions.Message("team/gang"), HasSubstr("ResourceQuotaNotFit"));
}

TEST(Deviceshare, AQuotaOfNothingBlocksEveryGpu) {
  ClusterWithQuota cluster({.memory_mib = 0});
  cluster.Job("team/one", 1, OfTeam(1));
  EXPECT_THAT(RunCycle(cluster.builder.state).binds, IsEmpty());
}

TEST(Deviceshare, OfTheQuotaOnlyTheGpusThatAPodGetsCount) {
  const std::int64_t each = FindGpuMachine("pcie8")->memory_mib;
  ClusterWithQuota cluster({.memory_mib = 2 * each});
  cluster.Job("team/pair", 1, OfTeam(2));
  EXPECT_EQ(RunCycle(cluster.builder.state).binds.size(), 1U);
  EXPECT_THAT(cluster.Has("team/pair-w-0"), SizeIs(2));
}

// ---- Volcano's dialect ----

// Two GPUs of 16,384 MiB on each machine.
class VgpuCluster : public GpuCluster {
 public:
  VgpuCluster& Register(const std::string& node, bool in_hami = false) {
    NodeSpec spec = builder.SpecOf(node, {.cpu = 64, .memory = 512, .gpu = in_hami ? 20 : 0});
    spec.allocatable.Set(Vgpu(), 20'000);
    spec.gpus.emplace();
    spec.gpus->hami.registered = in_hami;
    spec.gpus->volcano.registered = true;
    for (int i = 0; i < 2; ++i) {
      Gpu gpu;
      gpu.uuid = node + "-" + std::to_string(i);
      gpu.index = i;
      gpu.slots = 10;
      gpu.memory_mib = 16'384;
      gpu.cores = 100;
      gpu.healthy = true;
      gpu.in_hami = in_hami;
      gpu.in_volcano = true;
      spec.gpus->gpus.push_back(gpu);
    }
    spec.gpus->scores = PairScores(2, {std::nullopt, 100, 100, std::nullopt});
    CHECK(builder.state.UpsertNode(std::move(spec)).has_value());
    return *this;
  }
  static GpuRequest Vgpus(std::int64_t memory_mib) {
    GpuRequest request;
    request.dialect = GpuDialect::kVolcano;
    request.containers = {{.container = "main", .count = 1, .memory_mib = memory_mib}};
    request.node_policy = GpuNodePolicy::kAsConfigured;
    return request;
  }
  ResourceId Vgpu() { return builder.state.resource_names().Intern("volcano.sh/vgpu-number"); }
  // A job of one pod.
  VgpuCluster& Pod(const std::string& name, const GpuRequest& request) {
    AddJob(name, 1, request, {{Vgpu(), 1000}});
    return *this;
  }
};

TEST(Vgpu, OfThreePodsThatFitTwoGpusOneWaitsWithTheReason) {
  VgpuCluster cluster;
  cluster.Register("a");
  for (const char* pod : {"p0", "p1", "p2"}) cluster.Pod(pod, VgpuCluster::Vgpus(10'000));
  const Decisions decided = RunCycle(cluster.builder.state);
  EXPECT_THAT(decided.binds, SizeIs(2));
  EXPECT_THAT(cluster.Has("p0-w-0"), ElementsAre("a-1")) << "the last first";
  EXPECT_THAT(cluster.Has("p1-w-0"), ElementsAre("a-0"));
  EXPECT_THAT(decided.Message("p2"), HasSubstr("2/2 CardInsufficientMemory"));
}

TEST(Vgpu, SharesOfBothDialectsCountOnOneGpu) {
  VgpuCluster cluster;
  cluster.Register("a", true);
  cluster.Holding("a", {1});
  cluster.Pod("p0", VgpuCluster::Vgpus(10'000)).Pod("p1", VgpuCluster::Vgpus(10'000));
  const Decisions decided = RunCycle(cluster.builder.state);
  EXPECT_THAT(cluster.Has("p0-w-0"), ElementsAre("a-0"));
  EXPECT_THAT(decided.Message("p1"), HasSubstr("2/2 CardInsufficientMemory"));
}

TEST(Vgpu, GoOnlyWhereTheirDialectIsRegistered) {
  VgpuCluster cluster;
  cluster.Machine("h", "pcie8");
  NodeSpec spec = cluster.builder.state.nodes().spec(cluster.builder.FindNode("h"));
  spec.allocatable.Set(cluster.Vgpu(), 20'000);  // handed out, but by nobody that registers them
  CHECK(cluster.builder.state.UpsertNode(std::move(spec)).has_value());
  cluster.Pod("p0", VgpuCluster::Vgpus(10'000));
  EXPECT_THAT(RunCycle(cluster.builder.state).Message("p0"),
              HasSubstr("node(s) register no GPUs for volcano.sh/vgpu-number"));
}

TEST(Vgpu, AreNeverPlacedByNumbersAlone) {
  VgpuCluster cluster;
  cluster.Register("a").Pod("p0", VgpuCluster::Vgpus(10'000));
  const Decisions decided = RunCycle(cluster.builder.state, ConfigWithout("deviceshare"));
  EXPECT_THAT(decided.binds, IsEmpty());
  EXPECT_THAT(decided.Message("p0"), HasSubstr("requires the plugin deviceshare"));
}

TEST(Vgpu, PodsOfOneGroupThatMustBeSpreadShareNoGpu) {
  for (const bool spread : {false, true}) {
    VgpuCluster cluster;
    cluster.Register("a").Register("b");
    GpuRequest request = VgpuCluster::Vgpus(1'000);
    if (spread) request.spread_group = "gang";
    cluster.AddJob("gang", 3, request, {{cluster.Vgpu(), 1000}});
    RunCycle(cluster.builder.state);
    std::set<std::string> gpus;
    for (const char* pod : {"gang-w-0", "gang-w-1", "gang-w-2"}) {
      for (const std::string& uuid : cluster.Has(pod)) gpus.insert(uuid);
    }
    EXPECT_THAT(gpus, SizeIs(spread ? 3 : 1));
  }
}

TEST(Vgpu, FollowTheConfiguredPolicyUnlessTheyNameOne) {
  const auto second_of = [](const std::string& policy, bool names_one) {
    VgpuCluster cluster;
    cluster.Register("a");
    GpuRequest request = VgpuCluster::Vgpus(1'000);
    if (names_one) request.policy.order = {GpuOrder::kSpread};
    cluster.Pod("p0", request).Pod("p1", request);
    RunCycle(cluster.builder.state,
             ConfigWith("deviceshare", "deviceshare.SchedulePolicy", policy));
    return cluster.Has("p1-w-0").at(0);
  };
  EXPECT_EQ(second_of("", false), "a-1");
  EXPECT_EQ(second_of("binpack", false), "a-0");
  EXPECT_EQ(second_of("spread", false), "a-1") << "the first got the other";
  EXPECT_EQ(second_of("binpack", true), "a-1") << "HAMi's spread, as the pod says";
}

TEST(Vgpu, AreChosenByLinksWhereTheConfigurationSaysSo) {
  GpuCluster cluster;
  cluster.Machine("a", "dgx1v");
  NodeSpec spec = cluster.builder.state.nodes().spec(cluster.builder.FindNode("a"));
  spec.gpus->volcano.registered = true;
  for (Gpu& gpu : spec.gpus->gpus) gpu.in_volcano = true;
  CHECK(cluster.builder.state.UpsertNode(std::move(spec)).has_value());
  GpuRequest pair = VgpuCluster::Vgpus(0);
  pair.containers[0].count = 2;
  cluster.AddJob("pair", 1, pair, {{cluster.builder.Gpu(), 2000}});
  RunCycle(cluster.builder.state,
           ConfigWith("deviceshare", "deviceshare.SchedulePolicy", std::string("topology-aware")));
  EXPECT_THAT(cluster.Has("pair-w-0"), ElementsAre("GPU-a-2", "GPU-a-3"));
}

TEST(Deviceshare, ATraceDoesNotChangeDecisions) {
  Decisions decided[2];
  Uuids held[2];
  for (int listens = 0; listens < 2; ++listens) {
    GpuCluster cluster;
    cluster.Machine("a", "dgx1v").Machine("b", "hgxh100").Machine("c", "pcie8");
    cluster.Holding("a", {1}).Holding("b", {0, 5});
    for (int i = 0; i < 4; ++i) {
      cluster.Job("j" + std::to_string(i), 2, GpuCluster::Asking(1 + i % 3, i % 2 == 0));
    }
    TraceLog log;
    decided[listens] =
        RunCycle(cluster.builder.state, DefaultSchedulerConfig(), listens == 1 ? &log : nullptr);
    for (const auto& [pod, node] : decided[listens].binds) {
      for (const std::string& uuid : cluster.Has(pod)) held[listens].push_back(pod + uuid);
    }
  }
  EXPECT_EQ(decided[0], decided[1]);
  EXPECT_EQ(held[0], held[1]);
  EXPECT_EQ(std::set<std::string>(held[0].begin(), held[0].end()).size(), held[0].size());
}

TEST(Deviceshare, RefusesArgumentsOfTheWrongType) {
  ResourceNames names;
  PluginConfig config{.name = "deviceshare", .switches = {}, .arguments = {}};
  config.arguments.Set("deviceshare.ScheduleWeight", std::string("heavy"));
  EXPECT_FALSE(MakeDeviceshare(config, names).has_value());
  config.arguments.Set("deviceshare.ScheduleWeight", std::int64_t{0});
  config.arguments.Set("deviceshare.NodeLockEnable", true);
  EXPECT_THAT(MakeDeviceshare(config, names)->warnings, ElementsAre(HasSubstr("no effect")));
}

TEST(Deviceshare, WarnsOfArgumentsThatHaveNoEffect) {
  ResourceNames names;
  PluginConfig config{.name = "deviceshare", .switches = {}, .arguments = {}};
  config.arguments.Set("deviceshare.SchedulePolicy", std::string(""));
  config.arguments.Set("deviceshare.VGPUEnable", true);
  EXPECT_THAT(MakeDeviceshare(config, names)->warnings, IsEmpty());
  config.arguments.Set("deviceshare.SchedulePolicy", std::string("tight"));
  config.arguments.Set("deviceshare.VGPUEnable", false);
  config.arguments.Set("deviceshare.KnownGeometriesCMName", std::string("vgpus"));
  EXPECT_THAT(MakeDeviceshare(config, names)->warnings,
              ElementsAre(HasSubstr("VGPUEnable: false has no effect"),
                          HasSubstr("SchedulePolicy: \"tight\" is not a policy"),
                          HasSubstr("KnownGeometriesCMName: has no effect")));
}

}  // namespace
}  // namespace strata::testing
