#include "sched/plugins/gang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

constexpr Shape kPod{.cpu = 1, .memory = 1};

struct GangCluster : TestCluster {
  GangCluster() {
    AddQueue("default");
    AddNode("n0", {.cpu = 100, .memory = 100});
  }
  TestPlugin gang = OpenPlugin(*this, "gang");

  [[nodiscard]] const Job& At(JobId id) const { return state.workload().job(id); }
  [[nodiscard]] bool Ready(JobId id) const { return gang.As<JobGatePoint>().Ready(At(id)); }
  [[nodiscard]] Vote Pipelined(JobId id) const { return gang.As<JobGatePoint>().Pipelined(At(id)); }
  [[nodiscard]] std::optional<Refusal> Invalid(JobId id) const {
    return gang.As<JobGatePoint>().Invalid(At(id));
  }
  TaskId AddOfRole(JobId job, const std::string& role, const std::string& node = "") {
    TaskSpec spec;
    spec.constraints = ClassOf(kPod);
    spec.role = role;
    return AddTask(job, std::move(spec), node);
  }
  TaskId AddOfGroup(JobId job, const std::string& value, const std::string& node = "") {
    TaskSpec spec;
    spec.constraints = ClassOf(kPod);
    spec.sub_group = SubGroupKey{.policy = 0, .values = {value}};
    return AddTask(job, std::move(spec), node);
  }
  // minMember 4; policy "part": sub-groups of 2 pods, of which 2 are needed.
  JobId AddPartitioned() {
    JobSpec spec;
    spec.name = "ns/parts";
    spec.queue = "default";
    spec.min_available = 4;
    spec.sub_groups.resize(1);
    spec.sub_groups[0].name = "part";
    spec.sub_groups[0].match_label_keys = {"index"};
    spec.sub_groups[0].size = 2;
    spec.sub_groups[0].min_sub_groups = 2;
    return state.workload().UpsertJob(std::move(spec));
  }
};

TEST(Gang, IsReadyWhenMinMemberPodsHaveANode) {
  GangCluster c;
  const JobId job = c.AddJob("ns/a", "default", 2);
  c.AddTask(job, kPod, "n0");
  const TaskId second = c.AddTask(job, kPod);
  EXPECT_FALSE(c.Ready(job));
  EXPECT_EQ(c.Pipelined(job), Vote::kReject);
  c.state.journal().Pipeline(second, *c.state.nodes().Find("n0"));
  EXPECT_FALSE(c.Ready(job));
  EXPECT_EQ(c.Pipelined(job), Vote::kPermit);
  c.state.journal().RollbackTo(0);
  c.state.journal().Allocate(second, *c.state.nodes().Find("n0"));
  EXPECT_TRUE(c.Ready(job));
}

TEST(Gang, PendingBestEffortPodsCountAsReady) {
  GangCluster c;
  const JobId job = c.AddJob("ns/a", "default", 2);
  c.AddTask(job, kPod, "n0");
  c.AddTask(job, Shape{});
  EXPECT_TRUE(c.Ready(job));
}

TEST(Gang, RefusesAJobThatHasFewerPodsThanMinMember) {
  GangCluster c;
  const JobId job = c.AddJob("ns/a", "default", 3);
  c.AddTask(job, kPod);
  EXPECT_EQ(c.Invalid(job), (Refusal{"NotEnoughTasks", "1 pod exists, minMember is 3"}));
  c.AddTask(job, kPod);
  EXPECT_EQ(c.Invalid(job), (Refusal{"NotEnoughTasks", "2 pods exist, minMember is 3"}));
  c.AddTask(job, kPod, "n0");
  EXPECT_EQ(c.Invalid(job), std::nullopt);
}

TEST(Gang, FailedPodsDoNotMakeUpAGang) {
  GangCluster c;
  const JobId job = c.AddJob("ns/a", "default", 1);
  c.state.workload().SetTaskStatus(c.AddTask(job, kPod, "n0"), TaskStatus::kFailed);
  EXPECT_EQ(c.Invalid(job), (Refusal{"NotEnoughTasks", "0 pods exist, minMember is 1"}));
}

TEST(Gang, EveryRoleNeedsItsMinimum) {
  GangCluster c;
  JobSpec spec;
  spec.name = "ns/a";
  spec.queue = "default";
  spec.min_available = 2;
  spec.min_task_member = {{"ps", 1}, {"worker", 1}};
  const JobId job = c.state.workload().UpsertJob(std::move(spec));
  c.AddOfRole(job, "worker", "n0");
  c.AddOfRole(job, "worker", "n0");
  EXPECT_FALSE(c.Ready(job));
  EXPECT_EQ(c.Invalid(job),
            (Refusal{"NotEnoughPodsOfTask", "0 pods exist of task ps, its minimum is 1"}));
  c.AddOfRole(job, "ps", "n0");
  EXPECT_TRUE(c.Ready(job));
}

TEST(Gang, RolesDoNotBindWhenMinMemberIsBelowTheirSum) {
  GangCluster c;
  JobSpec spec;
  spec.name = "ns/a";
  spec.queue = "default";
  spec.min_available = 1;
  spec.min_task_member = {{"ps", 1}, {"worker", 1}};
  const JobId job = c.state.workload().UpsertJob(std::move(spec));
  c.AddOfRole(job, "worker", "n0");
  EXPECT_TRUE(c.Ready(job));
  EXPECT_EQ(c.Invalid(job), std::nullopt);
}

TEST(Gang, NeedsMinSubGroupsThatAreCompleteThemselves) {
  //   sub-group 0: 2 of 2 pods run   1: 1 of 2   2: 1 of 2
  GangCluster c;
  const JobId job = c.AddPartitioned();
  c.AddOfGroup(job, "0", "n0");
  c.AddOfGroup(job, "0", "n0");
  c.AddOfGroup(job, "1", "n0");
  EXPECT_EQ(c.Invalid(job), (Refusal{"NotEnoughTasks", "3 pods exist, minMember is 4"}));
  c.AddOfGroup(job, "2", "n0");
  EXPECT_FALSE(c.Ready(job));
  c.AddOfGroup(job, "2", "n0");
  EXPECT_TRUE(c.Ready(job));
}

TEST(Gang, RefusesAJobWithTooFewSubGroups) {
  GangCluster c;
  const JobId job = c.AddPartitioned();
  for (int i = 0; i < 4; ++i) c.AddOfGroup(job, "0");
  EXPECT_EQ(
      c.Invalid(job),
      (Refusal{"NotEnoughPodsOfTask", "1 sub-group exists of policy part, minSubGroups is 2"}));
}

TEST(Gang, ASubGroupIsReadyByItsOwnSize) {
  GangCluster c;
  const JobId job = c.AddPartitioned();
  c.AddOfGroup(job, "0", "n0");
  c.AddOfGroup(job, "0", "n0");
  c.AddOfGroup(job, "1", "n0");
  const auto& sub_jobs = c.At(job).sub_jobs;
  const auto& gate = c.gang.As<SubJobGatePoint>();
  EXPECT_TRUE(gate.SubJobReady(c.At(job), sub_jobs[1]));
  EXPECT_FALSE(gate.SubJobReady(c.At(job), sub_jobs[2]));
  EXPECT_EQ(gate.SubJobPipelined(c.At(job), sub_jobs[1]), Vote::kPermit);
  EXPECT_EQ(gate.SubJobPipelined(c.At(job), sub_jobs[2]), Vote::kReject);
  EXPECT_GT(c.gang.As<OrderPoint>().CompareSubJobs(c.At(job), sub_jobs[1], sub_jobs[2]), 0);
}

TEST(Gang, WithoutSubGroupsTheDefaultSubJobIsAsReadyAsTheJob) {
  GangCluster c;
  const JobId job = c.AddJob("ns/a", "default", 2);
  c.AddTask(job, kPod, "n0");
  const SubJob& whole = c.At(job).sub_jobs[0];
  EXPECT_FALSE(c.gang.As<SubJobGatePoint>().SubJobReady(c.At(job), whole));
  c.AddTask(job, kPod, "n0");
  EXPECT_TRUE(c.gang.As<SubJobGatePoint>().SubJobReady(c.At(job), c.At(job).sub_jobs[0]));
}

TEST(Gang, JobsThatAreNotReadyComeFirst) {
  GangCluster c;
  const JobId ready = c.AddJob("ns/a", "default", 1);
  c.AddTask(ready, kPod, "n0");
  const JobId waiting = c.AddJob("ns/b", "default", 1);
  c.AddTask(waiting, kPod);
  const auto& order = c.gang.As<OrderPoint>();
  EXPECT_GT(order.CompareJobs(c.At(ready), c.At(waiting)), 0);
  EXPECT_LT(order.CompareJobs(c.At(waiting), c.At(ready)), 0);
  EXPECT_EQ(order.CompareJobs(c.At(ready), c.At(ready)), 0);
}

}  // namespace
}  // namespace strata
