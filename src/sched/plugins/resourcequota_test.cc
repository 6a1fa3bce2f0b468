#include "sched/plugins/resourcequota.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

struct QuotaCluster : TestCluster {
  QuotaCluster() { AddQueue("q"); }

  void AddQuota(const std::string& name, ResourceLimits hard, const Shape& used = {}) {
    state.quotas().Upsert({.name = name, .hard = std::move(hard), .used = Amounts(used)});
  }
  JobId AddJobWith(const std::string& name, const Shape& min_resources, std::int32_t pods = 1) {
    JobSpec spec;
    spec.name = name;
    spec.queue = "q";
    spec.min_available = pods;
    spec.min_resources = Amounts(min_resources);
    return state.workload().UpsertJob(std::move(spec));
  }
  [[nodiscard]] Ballot Ask(const TestPlugin& plugin, JobId job) const {
    return plugin.As<JobGatePoint>().Enqueueable(state.workload().job(job));
  }
};

TEST(Resourcequota, AJobEntersWhileEveryQuotaOfItsNamespaceHasRoom) {
  //   team: 8 cores, 3 used
  QuotaCluster c;
  c.AddQuota("team/cores", {{kCpu, 8000}}, {.cpu = 3});
  c.AddQuota("team/gpus", {{c.gpu, 2000}});
  const JobId five = c.AddJobWith("team/five", {.cpu = 5, .memory = 1000});
  const JobId six = c.AddJobWith("team/six", {.cpu = 6});
  const JobId gpus = c.AddJobWith("team/gpus", {.cpu = 1, .gpu = 3});
  const JobId elsewhere = c.AddJobWith("teams/six", {.cpu = 6});
  const TestPlugin plugin = OpenPlugin(c, "resourcequota");
  EXPECT_EQ(c.Ask(plugin, five).vote, Vote::kPermit);
  EXPECT_EQ(c.Ask(plugin, elsewhere).vote, Vote::kPermit);
  EXPECT_EQ(c.Ask(plugin, six).vote, Vote::kReject);
  EXPECT_EQ(c.Ask(plugin, six).refusal,
            (Refusal{"NamespaceQuotaExceeded",
                     "ResourceQuota team/cores: 6 cpu requested, 3 in use or promised, its limit "
                     "is 8"}));
  EXPECT_EQ(c.Ask(plugin, gpus).refusal.message,
            "ResourceQuota team/gpus: 3 nvidia.com/gpu requested, 0 in use or promised, its limit "
            "is 2");
}

TEST(Resourcequota, CountsJobsAdmittedInTheSameCycle) {
  QuotaCluster c;
  c.AddQuota("team/cores", {{kCpu, 8000}});
  const JobId first = c.AddJobWith("team/first", {.cpu = 5});
  const JobId second = c.AddJobWith("team/second", {.cpu = 4});
  const TestPlugin plugin = OpenPlugin(c, "resourcequota");
  EXPECT_EQ(c.Ask(plugin, second).vote, Vote::kPermit);
  plugin.As<JobGatePoint>().OnEnqueued(c.state.workload().job(first));
  EXPECT_EQ(c.Ask(plugin, second).vote, Vote::kReject);
}

TEST(Resourcequota, PodsAreThoseOfTheMinimum) {
  QuotaCluster c;
  c.AddQuota("team/pods", {{kPods, 4}});
  const JobId four = c.AddJobWith("team/four", {.cpu = 5}, 4);
  const JobId five = c.AddJobWith("team/five", {.cpu = 5}, 5);
  const TestPlugin plugin = OpenPlugin(c, "resourcequota");
  EXPECT_EQ(c.Ask(plugin, four).vote, Vote::kPermit);
  EXPECT_EQ(c.Ask(plugin, five).vote, Vote::kReject);
}

TEST(Resourcequota, AJobWithoutMinResourcesMayEnter) {
  QuotaCluster c;
  c.AddQuota("team/none", {{kCpu, 0}});
  EXPECT_EQ(c.Ask(OpenPlugin(c, "resourcequota"), c.AddJob("team/any", "q")).vote, Vote::kPermit);
}

}  // namespace
}  // namespace strata
