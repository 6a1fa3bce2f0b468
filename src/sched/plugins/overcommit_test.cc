#include "sched/plugins/overcommit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

struct OvercommitCluster : TestCluster {
  OvercommitCluster() {
    AddNode("n0", {.cpu = 10, .gpu = 5});
    AddQueue("q");
  }
  JobId AddJobWith(const std::string& name,
                   const Shape& min_resources,
                   JobPhase phase = JobPhase::kPending) {
    JobSpec spec;
    spec.name = name;
    spec.queue = "q";
    spec.min_available = 1;
    spec.min_resources = Amounts(min_resources);
    spec.phase = phase;
    return state.workload().UpsertJob(std::move(spec));
  }
  [[nodiscard]] Ballot Ask(const TestPlugin& plugin, JobId job) const {
    return plugin.As<JobGatePoint>().Enqueueable(state.workload().job(job));
  }
};

TEST(Overcommit, AdmitsAFifthMoreThanTheNodesHave) {
  //   10 cores x 1.2 = 12; 4 in use
  OvercommitCluster c;
  c.AddTask(c.AddJob("ns/runs", "q"), {.cpu = 4}, "n0");
  const JobId eight = c.AddJobWith("ns/eight", {.cpu = 8});
  const JobId more = c.AddJobWith("ns/more", {.cpu = 8.002});
  const TestPlugin plugin = OpenPlugin(c, "overcommit");
  EXPECT_EQ(c.Ask(plugin, eight).vote, Vote::kPermit);
  EXPECT_EQ(c.Ask(plugin, more).vote, Vote::kReject);
  EXPECT_EQ(c.Ask(plugin, more).refusal,
            (Refusal{"ClusterOvercommitted",
                     "8 cpu requested, 4 in use or promised in the cluster, the limit is 12 (1.2 "
                     "times what its nodes have)"}));
}

TEST(Overcommit, CountsWhatWasPromisedInWhateverQueue) {
  //   6 GPUs in all; 2 promised to a job that is in, then 3 to the next
  OvercommitCluster c;
  c.AddJobWith("ns/in", {.gpu = 2}, JobPhase::kInqueue);
  const JobId three = c.AddJobWith("ns/three", {.gpu = 3});
  const JobId two = c.AddJobWith("ns/two", {.gpu = 2});
  const JobId one = c.AddJobWith("ns/one", {.gpu = 1});
  const TestPlugin plugin = OpenPlugin(c, "overcommit");
  EXPECT_EQ(c.Ask(plugin, two).vote, Vote::kPermit);
  plugin.As<JobGatePoint>().OnEnqueued(c.state.workload().job(three));
  EXPECT_EQ(c.Ask(plugin, two).vote, Vote::kReject);
  EXPECT_EQ(c.Ask(plugin, one).vote, Vote::kPermit);
}

TEST(Overcommit, AJobWithoutMinResourcesMayEnter) {
  OvercommitCluster c;
  const JobId job = c.AddJob("ns/any", "q");
  c.AddTask(job, {.cpu = 1000});
  EXPECT_EQ(c.Ask(OpenPlugin(c, "overcommit"), job).vote, Vote::kPermit);
}

TEST(Overcommit, TheFactorIsAnArgumentAndBelowOneADefault) {
  OvercommitCluster c;
  const JobId twenty = c.AddJobWith("ns/twenty", {.cpu = 20});
  EXPECT_EQ(c.Ask(OpenPlugin(c, "overcommit", {{"overcommit-factor", 2.0}}), twenty).vote,
            Vote::kPermit);
  const TestPlugin plugin = OpenPlugin(c, "overcommit", {{"overcommit-factor", 0.5}});
  EXPECT_THAT(plugin.warnings,
              ElementsAre("overcommit: overcommit-factor: 0.5 is below 1, 1.2 is used"));
  const JobId twelve = c.AddJobWith("ns/twelve", {.cpu = 12});
  EXPECT_EQ(c.Ask(plugin, twelve).vote, Vote::kPermit);
  EXPECT_EQ(c.Ask(plugin, twenty).vote, Vote::kReject);
}

}  // namespace
}  // namespace strata
