#include "model/journal.h"

#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/recount.h"
#include "tests/support/state_dump.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using testing::Cores;
using testing::DumpState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::RecountMistakes;

Amount CoresOf(std::span<const Amount> row) {
  return row[kCpu.index()] / 1000;
}

// ---- allocated and pipelined tasks

TEST(Journal, RollbackRestoresEverySum) {
  //   s0: node0 node1     a gang of 3, one of them waits for what is released on node1
  ClusterBuilder cluster;
  Journal& journal = cluster.state.journal();
  cluster.Nodes(2, {.cpu = 4}).Leaf("s0", 1, {"node0", "node1"});
  cluster.Occupy("node1", {.cpu = 3}, TaskStatus::kReleasing);
  cluster.Job("train", {.tasks = 3, .task = {.cpu = 2}});
  const std::string before = DumpState(cluster.state);
  const auto savepoint = journal.Mark();
  journal.Allocate(cluster.FindTask("train-w-0"), cluster.FindNode("node0"));
  journal.Allocate(cluster.FindTask("train-w-1"), cluster.FindNode("node0"));
  journal.Pipeline(cluster.FindTask("train-w-2"), cluster.FindNode("node1"));
  EXPECT_NE(DumpState(cluster.state), before);
  journal.RollbackTo(savepoint);
  EXPECT_EQ(DumpState(cluster.state), before);
}

TEST(Journal, RollbackToAnInnerSavepointKeepsWhatCameBefore) {
  ClusterBuilder cluster;
  Journal& journal = cluster.state.journal();
  cluster.Node("node0").Job("train", {.tasks = 2});
  const NodeId node = cluster.FindNode("node0");
  journal.Allocate(cluster.FindTask("train-w-0"), node);
  const std::string between = DumpState(cluster.state);
  const auto inner = journal.Mark();
  journal.Allocate(cluster.FindTask("train-w-1"), node);
  EXPECT_THAT(journal.PlacedSince(inner), ElementsAre(cluster.FindTask("train-w-1")));
  journal.RollbackTo(inner);
  EXPECT_EQ(DumpState(cluster.state), between);
  EXPECT_THAT(journal.PlacedSince(0), ElementsAre(cluster.FindTask("train-w-0")));
}

TEST(Journal, CommitBindsWhatIsAllocatedAndHoldsWhatWaits) {
  ClusterBuilder cluster;
  Journal& journal = cluster.state.journal();
  cluster.Nodes(2, {.cpu = 2}).Occupy("node1", {.cpu = 2}, TaskStatus::kReleasing);
  cluster.Job("train", {.tasks = 2, .task = {.cpu = 2}});
  const TaskId placed = cluster.FindTask("train-w-0");
  const TaskId waiting = cluster.FindTask("train-w-1");
  journal.Allocate(placed, cluster.FindNode("node0"));
  journal.Pipeline(waiting, cluster.FindNode("node1"));
  EXPECT_THAT(journal.Commit().bound, ElementsAre(placed));
  EXPECT_EQ(cluster.state.workload().task(placed).status, TaskStatus::kBinding);
  EXPECT_EQ(cluster.state.workload().task(waiting).status, TaskStatus::kPipelined);
  EXPECT_THAT(journal.HeldTasks(), ElementsAre(waiting));
  journal.ReleaseHeld();
  EXPECT_EQ(cluster.state.workload().task(placed).status, TaskStatus::kBinding);
  EXPECT_EQ(cluster.state.workload().task(waiting).status, TaskStatus::kPending);
  EXPECT_EQ(RecountMistakes(cluster.state), "");
}

TEST(Journal, HoldKeepsAReservationUntilItIsReleased) {
  ClusterBuilder cluster;
  Journal& journal = cluster.state.journal();
  cluster.Node("node0", {.cpu = 4}).Job("first", {.tasks = 1, .task = {.cpu = 3}});
  const std::string before = DumpState(cluster.state);
  journal.Allocate(cluster.FindTask("first-w-0"), cluster.FindNode("node0"));
  journal.Hold();
  EXPECT_EQ(journal.Mark(), 0U);  // what comes later cannot roll it back
  EXPECT_EQ(CoresOf(cluster.state.nodes().Idle(cluster.FindNode("node0"))), 1);
  journal.ReleaseHeld();
  EXPECT_EQ(DumpState(cluster.state), before);
  EXPECT_THAT(journal.HeldTasks(), IsEmpty());
}

// ---- evicted tasks

// A node of 8 cores that is full with two tasks of job "old", one bound and one running, of which
// the first has a GPU; and a task of job "new" that needs the room of one of them.
struct FullNode {
  ClusterBuilder cluster;
  ClusterState& state = cluster.state;
  Journal& journal = state.journal();
  TaskId bound, running, waiting;
  NodeId node;

  FullNode() {
    cluster.Node("node0", {.cpu = 8}).Leaf("s0", 1, {"node0"}).Job("old", {.tasks = 0});
    cluster.Task("old", {.cpu = 4, .status = TaskStatus::kBound, .node = "node0"});
    cluster.Running("old", {"node0"}, {.cpu = 4});
    cluster.Job("new", {.tasks = 1, .task = {.cpu = 4}});
    bound = cluster.FindTask("old-w-0");
    running = cluster.FindTask("old-w-1");
    waiting = cluster.FindTask("new-w-0");
    node = cluster.FindNode("node0");
    state.workload().SetGpus(bound,
                             {.containers = {{{.uuid = "GPU-0", .memory_mib = 10, .cores = 5}}}});
  }
};

TEST(Journal, AnEvictedTaskKeepsItsNodeAndItsRoomIsBeingReleased) {
  FullNode full;
  full.journal.Evict(full.bound);
  EXPECT_EQ(full.state.workload().task(full.bound).status, TaskStatus::kReleasing);
  EXPECT_EQ(full.state.workload().task(full.bound).node, full.node);
  EXPECT_FALSE(full.state.workload().GpusOf(full.bound).empty());
  EXPECT_EQ(CoresOf(full.state.nodes().Idle(full.node)), 0);
  EXPECT_EQ(CoresOf(full.state.nodes().FutureIdle(full.node)), 4);
  EXPECT_EQ(CoresOf(full.state.sums().FutureIdle(full.cluster.FindHyperNode("s0"))), 4);
  EXPECT_EQ(full.cluster.JobNamed("old").allocated.Get(kCpu), Cores(4));
  EXPECT_TRUE(full.state.nodes().HasReleasing());
  EXPECT_THAT(full.journal.PlacedSince(0), IsEmpty());
  EXPECT_EQ(RecountMistakes(full.state), "");
}

TEST(Journal, RollbackMakesAnEvictedTaskWhatItWas) {
  FullNode full;
  const std::string before = DumpState(full.state);
  full.journal.Evict(full.bound);
  full.journal.Evict(full.running);
  full.journal.Pipeline(full.waiting, full.node);
  full.journal.RollbackTo(0);
  EXPECT_EQ(full.state.workload().task(full.bound).status, TaskStatus::kBound);
  EXPECT_EQ(full.state.workload().task(full.running).status, TaskStatus::kRunning);
  EXPECT_EQ(DumpState(full.state), before);
}

TEST(Journal, CommitEvictsForGoodAndHoldsTheTaskThatTakesTheRoom) {
  FullNode full;
  full.journal.Evict(full.bound);
  full.journal.Pipeline(full.waiting, full.node);
  const Journal::Committed committed = full.journal.Commit();
  EXPECT_THAT(committed.evicted,
              ElementsAre(Journal::Eviction{
                  .task = full.bound, .node = full.node, .was = TaskStatus::kBound}));
  EXPECT_THAT(committed.bound, IsEmpty());
  EXPECT_THAT(full.journal.HeldTasks(), ElementsAre(full.waiting));
  full.journal.ReleaseHeld();
  EXPECT_EQ(full.state.workload().task(full.waiting).status, TaskStatus::kPending);
  EXPECT_EQ(full.state.workload().task(full.bound).status, TaskStatus::kReleasing);
  EXPECT_EQ(full.state.workload().task(full.bound).node, full.node);
  EXPECT_EQ(RecountMistakes(full.state), "");
}

TEST(Journal, AHeldEvictionLastsUntilTheEndOfTheCycle) {
  FullNode full;
  const std::string before = DumpState(full.state);
  full.journal.Evict(full.bound);
  full.journal.Hold();
  EXPECT_EQ(full.state.workload().task(full.bound).status, TaskStatus::kReleasing);
  EXPECT_THAT(full.journal.HeldTasks(), IsEmpty());
  full.journal.ReleaseHeld();
  EXPECT_EQ(DumpState(full.state), before);
}

// ---- domains of jobs and sub-jobs

// Two nodes, each a HyperNode, and a job of two sub-jobs with a task each.
struct TwoParts {
  ClusterBuilder cluster;
  Journal& journal = cluster.state.journal();
  JobId job;

  TwoParts() {
    cluster.Nodes(2).Leaf("s0", 1, {"node0"}).Leaf("s1", 1, {"node1"});
    cluster.Job("train",
                {.tasks = 0,
                 .min_available = 1,
                 .sub_groups = {{.name = "part", .match_label_keys = {"p"}, .topology = {}}}});
    for (const char* value : {"0", "1"}) {
      cluster.Task("train", {.sub_group = SubGroupKey{.policy = 0, .values = {value}}});
    }
    job = cluster.FindJob("train");
  }
  // The domains of the job and of its sub-jobs 1 and 2.
  [[nodiscard]] std::vector<std::string> Domains() const {
    const Job& the_job = cluster.state.workload().job(job);
    return {the_job.allocated_hypernode,
            the_job.sub_jobs[1].allocated_hypernode,
            the_job.sub_jobs[2].allocated_hypernode};
  }
  void Allocate(const char* task, const char* node) {
    journal.Allocate(cluster.FindTask(task), cluster.FindNode(node));
  }
};

TEST(Journal, RollbackRestoresTheDomainsOfAJobAndOfItsSubJobs) {
  TwoParts parts;
  parts.journal.SetDomain(parts.job, 1, "s0");
  const Journal::Savepoint savepoint = parts.journal.Mark();
  parts.journal.SetDomain(parts.job, 1, "s1");
  parts.journal.SetDomain(parts.job, 1, "s0");
  parts.journal.SetDomain(parts.job, 2, "s1");
  parts.journal.SetDomain(parts.job, "s1");
  EXPECT_THAT(parts.Domains(), ElementsAre("s1", "s0", "s1"));
  parts.journal.RollbackTo(savepoint);
  EXPECT_THAT(parts.Domains(), ElementsAre("", "s0", ""));
  parts.journal.RollbackTo(0);
  EXPECT_THAT(parts.Domains(), ElementsAre("", "", ""));
}

TEST(Journal, CommitKeepsTheDomainsOfWhatItBinds) {
  TwoParts parts;
  parts.Allocate("train-w-0", "node0");
  parts.journal.SetDomain(parts.job, 1, "s0");
  parts.journal.Pipeline(parts.cluster.FindTask("train-w-1"), parts.cluster.FindNode("node1"));
  parts.journal.SetDomain(parts.job, 2, "s0");
  parts.journal.SetDomain(parts.job, 2, "s1");
  parts.journal.SetDomain(parts.job, "s0");
  parts.journal.Commit();
  EXPECT_THAT(parts.Domains(), ElementsAre("s0", "s0", ""));
}

TEST(Journal, CommitThatBindsNothingKeepsNoDomain) {
  TwoParts parts;
  parts.journal.Pipeline(parts.cluster.FindTask("train-w-1"), parts.cluster.FindNode("node1"));
  parts.journal.SetDomain(parts.job, 2, "s1");
  parts.journal.SetDomain(parts.job, "s1");
  parts.journal.Commit();
  EXPECT_THAT(parts.Domains(), ElementsAre("", "", ""));
}

TEST(Journal, HoldKeepsNoDomain) {
  TwoParts parts;
  parts.Allocate("train-w-0", "node0");
  parts.journal.SetDomain(parts.job, 1, "s0");
  parts.journal.SetDomain(parts.job, "s0");
  parts.journal.Hold();
  EXPECT_THAT(parts.Domains(), ElementsAre("", "", ""));
}

}  // namespace
}  // namespace strata
