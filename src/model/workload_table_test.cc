#include "model/workload_table.h"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/recount.h"
#include "tests/support/state_dump.h"

namespace strata {
namespace {

using testing::BestEffort;
using testing::ClusterBuilder;
using testing::Cores;
using testing::DumpState;
using ::testing::ElementsAre;
using testing::GiB;
using ::testing::IsEmpty;
using testing::RecountMistakes;

constexpr Amount kMaxRequested = std::numeric_limits<Amount>::max();

TEST(WorkloadTable, CountsAllocatedAndPendingRequestsInJobAndQueue) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("train", {.tasks = 2, .task = {.cpu = 2}});
  cluster.Running("train", {"node0"}, {.cpu = 3});
  const Queue& queue =
      cluster.state.workload().queue(*cluster.state.workload().FindQueue("default"));
  EXPECT_EQ(queue.allocated.Get(kCpu), Cores(3));
  EXPECT_EQ(queue.pending.Get(kCpu), Cores(4));
  EXPECT_EQ(cluster.JobNamed("train").allocated.Get(kCpu), Cores(3));
}

TEST(WorkloadTable, SaysWhichJobsChangedSinceAVersion) {
  ClusterBuilder cluster;
  cluster.Nodes(1).Job("still", {.tasks = 1}).Job("train", {.tasks = 1});
  const JobId train = *cluster.state.workload().FindJob("train");
  const auto changes = [&](const auto& change) {
    const std::uint64_t version = cluster.state.workload().NextJobVersion();
    change();
    return cluster.state.workload().JobsTouchedSince(version).value();
  };
  const TaskId task = cluster.FindTask("train-w-0");
  EXPECT_THAT(changes([] {}), IsEmpty());
  EXPECT_THAT(changes([&] { cluster.state.journal().Allocate(task, cluster.FindNode("node0")); }),
              ElementsAre(train));
  EXPECT_THAT(changes([&] { cluster.state.journal().RollbackTo(0); }), ElementsAre(train));
  EXPECT_THAT(changes([&] { cluster.state.workload().SetJobPhase(train, JobPhase::kInqueue); }),
              ElementsAre(train));
  EXPECT_THAT(changes([&] { cluster.state.workload().RemoveTask(task); }), ElementsAre(train));
  EXPECT_THAT(changes([&] { cluster.state.workload().RemoveJob(train); }), ElementsAre(train));
  const JobId still = *cluster.state.workload().FindJob("still");
  EXPECT_THAT(changes([&] {
                cluster.state.workload().RemoveQueue(cluster.state.workload().job(still).queue);
              }),
              ElementsAre(still));
  EXPECT_EQ(cluster.state.workload().JobsTouchedSince(0), std::nullopt);
}

TEST(WorkloadTable, AJobWaitsUntilItIsLetInAndAllItsPodsHaveAPlace) {
  ClusterBuilder cluster;
  cluster.Nodes(1).Job("train", {.tasks = 1});
  const JobId train = *cluster.state.workload().FindJob("train");
  const TaskId task = cluster.FindTask("train-w-0");
  EXPECT_THAT(cluster.state.workload().WaitingJobs(), ElementsAre(train));
  cluster.state.workload().SetJobPhase(train, JobPhase::kRunning);
  EXPECT_THAT(cluster.state.workload().WaitingJobs(), ElementsAre(train));  // a pod is pending
  cluster.state.journal().Allocate(task, cluster.FindNode("node0"));
  EXPECT_THAT(cluster.state.workload().WaitingJobs(), IsEmpty());
  cluster.state.journal().RollbackTo(0);
  EXPECT_THAT(cluster.state.workload().WaitingJobs(), ElementsAre(train));
  cluster.state.workload().RemoveTask(task);
  EXPECT_THAT(cluster.state.workload().WaitingJobs(), ElementsAre(train));  // it has none
  cluster.state.workload().RemoveJob(train);
  EXPECT_THAT(cluster.state.workload().WaitingJobs(), IsEmpty());
}

TEST(WorkloadTable, TasksThatWaitMayAskForAnyAmount) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("train", {.tasks = 0});
  TaskSpec spec;
  spec.job = cluster.FindJob("train");
  spec.constraints.request.Set(kCpu, kMaxRequested);
  spec.constraints.nonzero_cpu = kMaxRequested;
  for (const char* name : {"train-w-0", "train-w-1"}) {
    spec.name = name;
    cluster.state.workload().AddTask(spec);
  }
  EXPECT_EQ(cluster.JobNamed("train").counts.Of(TaskStatus::kPending), 2);
}

TEST(WorkloadTable, ATaskThatNoNodeCanHoldIsNotInTheSumsOfWhatWaits) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 8}).Job("train", {.tasks = 1, .task = {.cpu = 8}});
  cluster.Task("train", {.cpu = 9});
  const auto waits = [&] {
    const QueueId queue = *cluster.state.workload().FindQueue("default");
    return cluster.state.workload().queue(queue).pending.Get(kCpu);
  };
  EXPECT_EQ(waits(), 8000);
  EXPECT_EQ(cluster.JobNamed("train").oversized, 1);
  cluster.Node("node1", {.cpu = 9});  // holds it
  EXPECT_EQ(waits(), 17000);
  EXPECT_EQ(cluster.JobNamed("train").oversized, 0);
  cluster.state.RemoveNode(cluster.FindNode("node1"));
  EXPECT_EQ(waits(), 8000);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(WorkloadTable, TheSumOfWhatWaitsDoesNotOverflow) {
  ClusterBuilder cluster;
  cluster.Node("node0", {.cpu = 4'000'000'000'000'000}).Job("train", {.tasks = 0});
  for (int i = 0; i < 4; ++i) cluster.Task("train", {.cpu = 4'000'000'000'000'000});
  const QueueId queue = *cluster.state.workload().FindQueue("default");
  EXPECT_EQ(cluster.state.workload().queue(queue).pending.Get(kCpu), 16e18);
}

TEST(WorkloadTable, TasksThatComeWithTheirNodeAlwaysCountThere) {
  //   a hundred pods far larger than their node, then an ordinary one on another node
  ClusterBuilder cluster;
  cluster.Nodes(2, {.memory = 32});
  TaskSpec spec;
  spec.status = TaskStatus::kRunning;
  spec.constraints.request.Set(kMemory, Amount{1} << 56U);
  spec.constraints.nonzero_memory = Amount{1} << 56U;
  for (int i = 0; i < 100; ++i) {
    spec.name = "huge-" + std::to_string(i);
    spec.node_name = "node0";
    cluster.state.workload().AddTask(spec);
  }
  cluster.Occupy("node1", {.memory = 4});
  const NodeTable& nodes = cluster.state.nodes();
  EXPECT_LT(nodes.Idle(cluster.FindNode("node0"))[kMemory.index()], 0);
  EXPECT_EQ(nodes.Used(cluster.FindNode("node1"))[kMemory.index()], GiB(4));
  EXPECT_EQ(nodes.NonzeroMemory(cluster.FindNode("node1")), GiB(4));
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(WorkloadTable, ReadsTheRankFromANameOfThreeParts) {
  ClusterBuilder cluster;
  cluster.Job("a", {.tasks = 0});
  for (const char* name : {"a-w-7", "ns-x/a-7", "ns/a-w-x7", "a-w-7x", "a-b-c-0"}) {
    cluster.Task("a", {}, name);
  }
  const auto index = [&](const char* name) {
    return cluster.state.workload().task(cluster.FindTask(name)).index;
  };
  EXPECT_EQ(index("a-w-7"), 7);
  EXPECT_EQ(index("ns-x/a-7"), -1);  // the namespace does not count
  EXPECT_EQ(index("ns/a-w-x7"), -1);
  EXPECT_EQ(index("a-w-7x"), -1);
  EXPECT_EQ(index("a-b-c-0"), 0);
}

TEST(WorkloadTable, PutsTasksIntoTheSubJobOfTheirKey) {
  ClusterBuilder cluster;
  SubGroupPolicy policy;
  policy.name = "part";
  policy.match_label_keys = {"p"};
  policy.size = 2;
  policy.topology = testing::Hard(1);
  cluster.Job("a", {.tasks = 1, .min_available = 3, .sub_groups = {policy}});
  for (const char* value : {"2", "10", "2", "4x"}) {
    cluster.Task("a", {.sub_group = SubGroupKey{0, {value}}});
  }
  const std::vector<SubJob>& sub_jobs = cluster.JobNamed("a").sub_jobs;
  ASSERT_EQ(sub_jobs.size(), 4U);
  EXPECT_EQ(sub_jobs[0].min_available, 1);  // the default sub-job beside policies
  EXPECT_EQ(sub_jobs[1].name, "part-2");
  EXPECT_EQ(sub_jobs[1].tasks.size(), 2U);
  EXPECT_EQ(sub_jobs[1].min_available, 2);
  EXPECT_EQ(sub_jobs[1].topology, testing::Hard(1));
  EXPECT_EQ(sub_jobs[2].match_index, 10);
  EXPECT_EQ(sub_jobs[3].match_index, 0);  // "4x" is not a number
}

TEST(WorkloadTable, ASubJobFollowsItsPolicyAndGoesWithItsLastPod) {
  ClusterBuilder cluster;
  SubGroupPolicy policy;
  policy.name = "part";
  policy.match_label_keys = {"p"};
  policy.size = 1;
  cluster.Job("a", {.tasks = 0, .min_available = 1, .sub_groups = {policy}});
  cluster.Task("a", {.sub_group = SubGroupKey{0, {"1"}}});
  JobSpec spec = cluster.JobNamed("a").spec;
  spec.sub_groups[0].size = 5;
  spec.sub_groups[0].topology = testing::Hard(1);
  const JobId job = cluster.state.workload().UpsertJob(spec);
  EXPECT_EQ(cluster.state.workload().job(job).sub_jobs[1].min_available, 5);
  EXPECT_TRUE(cluster.state.workload().job(job).HasHardTopology());

  cluster.state.workload().RemoveTask(cluster.state.workload().job(job).sub_jobs[1].tasks[0]);
  EXPECT_FALSE(cluster.state.workload().job(job).HasHardTopology());
  cluster.Task("a", {.sub_group = SubGroupKey{0, {"2"}}});
  ASSERT_EQ(cluster.state.workload().job(job).sub_jobs.size(), 2U);  // in the place of the first
  EXPECT_EQ(cluster.state.workload().job(job).sub_jobs[1].name, "part-2");
}

TEST(WorkloadTable, PodsWhosePolicyIsGoneAreOfNoSubGroup) {
  ClusterBuilder cluster;
  SubGroupPolicy policy;
  policy.name = "part";
  policy.match_label_keys = {"p"};
  cluster.Job("a", {.tasks = 0, .min_available = 1, .sub_groups = {policy}});
  cluster.Task("a", {.sub_group = SubGroupKey{0, {"1"}}});
  JobSpec spec = cluster.JobNamed("a").spec;
  spec.sub_groups.clear();
  const JobId job = cluster.state.workload().UpsertJob(spec);
  EXPECT_EQ(cluster.state.workload().job(job).sub_jobs[0].tasks.size(), 1U);
  EXPECT_FALSE(cluster.state.workload().job(job).sub_jobs[1].key.has_value());
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(WorkloadTable, AQueueThatComesAfterItsJobsCountsThem) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("train", {.tasks = 1, .queue = "late"});
  cluster.Running("train", {"node0"});
  EXPECT_FALSE(cluster.JobNamed("train").queue.valid());
  cluster.Queue("late");
  EXPECT_TRUE(cluster.JobNamed("train").queue.valid());
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(WorkloadTable, AJobThatMovesTakesItsSumsToTheOtherQueue) {
  ClusterBuilder cluster;
  cluster.Queue("other").Node("node0").Job("train", {.tasks = 1});
  cluster.Running("train", {"node0"});
  JobSpec spec = cluster.JobNamed("train").spec;
  spec.queue = "other";
  cluster.state.workload().UpsertJob(spec);
  EXPECT_EQ(
      cluster.state.workload().queue(*cluster.state.workload().FindQueue("default")).allocated,
      Resources{});
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(WorkloadTable, ARemovedJobTakesItsTasksAlong) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("stays", {.tasks = 1});
  const std::string before = DumpState(cluster.state);
  cluster.Job("goes", {.tasks = 2}).Running("goes", {"node0"});
  cluster.state.workload().RemoveJob(cluster.FindJob("goes"));
  EXPECT_EQ(DumpState(cluster.state), before);
  EXPECT_EQ(cluster.state.workload().FindJob("goes"), std::nullopt);
}

TEST(WorkloadTable, ABestEffortTaskIsReadyWhileItIsPending) {
  ClusterBuilder cluster;
  cluster.Node("node0").Job("train", {.tasks = 2, .task = BestEffort()});
  EXPECT_EQ(cluster.JobNamed("train").counts.Ready(), 2);
  cluster.state.journal().Allocate(cluster.FindTask("train-w-0"), cluster.FindNode("node0"));
  EXPECT_EQ(cluster.JobNamed("train").counts.Ready(), 2);
  EXPECT_EQ(cluster.JobNamed("train").counts.pending_best_effort, 1);
}

}  // namespace
}  // namespace strata
