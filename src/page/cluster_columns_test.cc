#include "page/cluster_columns.h"

#include <gtest/gtest.h>

#include "model/gpu_machines.h"
#include "page/gpu_cells.h"
#include "page/test_page_cluster.h"
#include "tests/support/cluster_builder.h"

namespace strata::page {
namespace {

using testing::ClusterBuilder;

// Two racks below a spine, and a node in no rack:
//
//   spine
//   rack-2: a1 a2      rack-10: b1      -: loose
class Columns : public ::testing::Test {
 protected:
  Columns() {
    for (const char* name : {"a2", "a1", "b1", "loose"}) cluster.Node(name, 8);
    cluster.Leaf("rack-10", {"b1"});
    cluster.Leaf("rack-2", {"a1", "a2"});
    cluster.Above("spine", {"rack-2", "rack-10"});
  }

  ClusterColumns Make() { return maker.Make(cluster.Settled()); }

  PageCluster cluster;
  ColumnsMaker maker;
};

TEST_F(Columns, HaveTheTreeInItsOwnOrder) {
  const ClusterColumns columns = Make();
  EXPECT_EQ(columns.hypernodes.name, (std::vector<std::string>{"spine", "rack-2", "rack-10"}));
  EXPECT_EQ(columns.hypernodes.parent, (std::vector<Place>{-1, 0, 0}));
  EXPECT_EQ(columns.hypernodes.tier, (std::vector<std::int32_t>{2, 1, 1}));
  EXPECT_EQ(columns.hypernodes.nodes, (std::vector<std::int64_t>{3, 2, 1}));
  EXPECT_EQ(columns.nodes.name, (std::vector<std::string>{"a1", "a2", "b1", "loose"}));
  EXPECT_EQ(columns.nodes.leaf, (std::vector<Place>{1, 1, 2, -1}));
}

TEST_F(Columns, CountWhatFitsAsTheTopologyReportDoes) {
  cluster.Group("train", 1);
  cluster.Pod("train-0", "train", 8, "a1");
  const ClusterColumns columns = Make();
  EXPECT_EQ(columns.pod.begin()->first, "nvidia.com/gpu");
  EXPECT_EQ(columns.hypernodes.fits, (std::vector<std::int64_t>{2, 1, 1}));
  const auto report = MakeTopologyReport(cluster.Settled().state(), columns.pod);
  ASSERT_TRUE(report);
  ASSERT_EQ(columns.tiers.size(), report->tiers.size());
  for (std::size_t i = 0; i < columns.tiers.size(); ++i) {
    EXPECT_EQ(columns.tiers[i].pods, report->tiers[i].pods);
    EXPECT_EQ(columns.tiers[i].hypernode, report->tiers[i].hypernode);
  }
  EXPECT_EQ(columns.tiers.back().pods, 3);
}

TEST_F(Columns, FillTheCellsOfCountedGpusFromTheLeft) {
  cluster.Group("train", 1);
  cluster.Pod("train-0", "train", 3, "a2");
  cluster.Pod("of-nobody", "", 1, "b1");
  const ClusterColumns columns = Make();
  EXPECT_EQ(columns.gpus.state,
            "ffffffff"
            "uuufffff"
            "ufffffff"
            "ffffffff");
  EXPECT_EQ(columns.gpus.holder[8], 0);
  EXPECT_EQ(columns.gpus.holder[11], kNowhere);
  EXPECT_EQ(columns.gpus.holder[16], kNowhere);
}

TEST_F(Columns, TakeTheCellsOfACordonedNodeOutOfService) {
  cluster.Node("a1", 8, R"("unschedulable":true)");
  const ClusterColumns columns = Make();
  EXPECT_EQ(columns.gpus.state.substr(0, 9), "xxxxxxxxf");
  EXPECT_EQ(columns.nodes.note.at(0), "cordoned");
}

TEST_F(Columns, SayWhereAJobIsAndWhyAnotherWaits) {
  cluster.Group("runs", 2);
  cluster.Pod("runs-0", "runs", 8, "a1");
  cluster.Pod("runs-1", "runs", 8, "a2");
  cluster.Group(
      "waits",
      3,
      "3/3 tasks in gang unschedulable: no HyperNode of tier 1 or below holds 3 pods; nearest: "
      "HyperNode rack-2 (tier 1) takes 2 of 3; this alone would let it start: allow tier 2");
  cluster.Pod("waits-0", "waits", 8, "");
  const JobColumns jobs = Make().jobs;
  EXPECT_EQ(jobs.name, (std::vector<std::string>{"runs", "waits"}));
  EXPECT_EQ(jobs.hypernode, (std::vector<Place>{1, -1}));
  EXPECT_EQ(jobs.tier, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(jobs.gpus, (std::vector<std::int64_t>{16, 8}));
  EXPECT_EQ(jobs.total, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(jobs.reason, (std::vector<std::string>{"", "TopologyUnsatisfied"}));
  EXPECT_EQ(jobs.nearest.at(1),
            (std::vector<NearMiss>{{.hypernode = 1, .tier = 1, .takes = 2, .of = 3}}));
  EXPECT_EQ(jobs.helps.at(1), "allow tier 2");
  EXPECT_TRUE(jobs.message.at(1).ends_with("takes 2 of 3"));
}

TEST_F(Columns, KeepThePositionOfAJobUntilTheEpochEnds) {
  cluster.Group("a", 1);
  cluster.Group("b", 1);
  static_cast<void>(Make());
  cluster.RemoveGroup("a");
  cluster.Group("c", 1);
  EXPECT_EQ(Make().jobs.name, (std::vector<std::string>{"", "b", "c"}));
  maker.ForgetJobs();
  EXPECT_EQ(Make().jobs.name, (std::vector<std::string>{"b", "c"}));
}

TEST_F(Columns, HaveAnotherLayoutWhenANodeGoes) {
  const ClusterColumns before = Make();
  cluster.Group("train", 1);
  EXPECT_TRUE(HaveSameLayout(before, Make()));
  cluster.RemoveNode("a1");
  EXPECT_FALSE(HaveSameLayout(before, Make()));
}

// ---- GPUs that a node registers

constexpr std::int64_t kGpuMemory = 1000;

GpuShare ShareOf(const Gpu& gpu, std::int64_t percent) {
  return {.uuid = gpu.uuid,
          .memory_mib = gpu.memory_mib * percent / 100,
          .cores = 0,
          .mig_profile = "",
          .mig_placement = {}};
}

class RegisteredCells : public ::testing::Test {
 protected:
  RegisteredCells() {
    NodeSpec spec = cluster.SpecOf("n", {.gpu = 4});
    NodeGpus gpus;
    for (int i = 0; i < 4; ++i) {
      Gpu& gpu = gpus.gpus.emplace_back();
      gpu.uuid = "GPU-" + std::to_string(i);
      gpu.index = i;
      gpu.slots = 10;
      gpu.memory_mib = kGpuMemory;
      gpu.cores = 100;
      gpu.healthy = i != 3;
    }
    spec.gpus = gpus;
    EXPECT_TRUE(cluster.state.UpsertNode(spec));
    cluster.Job("a", {.tasks = 0}).Job("b", {.tasks = 0});
  }

  void Run(const std::string& job, std::size_t gpu, std::int64_t percent, TaskStatus status) {
    cluster.Task(job, {.gpu = 1, .status = status, .node = "n"});
    const auto& on = *cluster.state.nodes().spec(cluster.FindNode("n")).gpus;
    const auto tasks = cluster.JobNamed(job).sub_jobs.front().tasks;
    cluster.state.workload().SetGpus(
        tasks.back(), {.containers = {{ShareOf(on.gpus[gpu], percent)}}, .init_containers = {}});
  }

  GpuColumns Cells() {
    GpuColumns out;
    AppendCells(
        cluster.state,
        cluster.FindNode("n"),
        [](JobId id) { return static_cast<Place>(id.index()); },
        out);
    return out;
  }

  ClusterBuilder cluster;
};

TEST_F(RegisteredCells, ShowTheGpuThatAPodHolds) {
  Run("a", 2, 100, TaskStatus::kRunning);
  const GpuColumns cells = Cells();
  EXPECT_EQ(cells.state, "ffux");
  EXPECT_EQ(cells.holder, (std::vector<Place>{-1, -1, 0, -1}));
}

TEST_F(RegisteredCells, SplitAGpuThatTwoJobsShare) {
  Run("a", 0, 25, TaskStatus::kRunning);
  Run("b", 0, 50, TaskStatus::kRunning);
  const GpuColumns cells = Cells();
  EXPECT_EQ(cells.state, "sffx");
  EXPECT_EQ(cells.holder[0], kNowhere);
  EXPECT_EQ(cells.shared.at(0),
            (std::vector<GpuPartHeld>{{.job = 0, .part = 0.25}, {.job = 1, .part = 0.5}}));
}

TEST_F(RegisteredCells, MarkWhatAPodThatIsDeletedStillHolds) {
  Run("b", 1, 100, TaskStatus::kReleasing);
  EXPECT_EQ(Cells().state, "fhfx");
}

TEST(Links, OfAMachineWithASwitchAreOneGroup) {
  const GpuMachine* machine = FindGpuMachine("hgxh100");
  ASSERT_NE(machine, nullptr);
  const LinkShape shape = LinkShapeOf(MakeNodeGpus(*machine, "n"));
  EXPECT_EQ(shape.gpus, 8U);
  EXPECT_EQ(shape.links.size(), 28U);
  EXPECT_TRUE(shape.links.front().starts_with("0-1 NV18"));
  EXPECT_EQ(shape.groups.size(), 1U);
}

TEST(Words, OfAnotherSchedulerAreAMessageAlone) {
  const WaitWords words = ReadWaitWords("2/2 tasks in gang unschedulable: pod group is not ready");
  EXPECT_EQ(words.message, "2/2 tasks in gang unschedulable: pod group is not ready");
  EXPECT_TRUE(words.nearest.empty());
  EXPECT_EQ(words.helps, "");
}

TEST(Words, ListEachNearestMiss) {
  const WaitWords words = ReadWaitWords(
      "4/4 tasks in gang unschedulable: no HyperNode of tier 2 or below holds 4 pods; nearest: "
      "HyperNode s1 (tier 1) "
      "takes 2 of 4, HyperNode s4 (tier 2) takes 3 of 4; HyperNode s4 is short of 1 "
      "nvidia.com/gpu");
  ASSERT_EQ(words.nearest.size(), 2U);
  EXPECT_EQ(words.nearest[1].hypernode, "s4");
  EXPECT_EQ(words.nearest[1].tier, 2);
  EXPECT_EQ(words.nearest[1].takes, 3);
}

TEST(Words, ThatAreCutOffAreNoMiss) {
  EXPECT_TRUE(ReadWaitWords("x; nearest: HyperNode s1 (tier 1) takes 2 o").nearest.empty());
  EXPECT_TRUE(ReadWaitWords("x; nearest: HyperNode s1 (tier ").nearest.empty());
}

}  // namespace
}  // namespace strata::page
