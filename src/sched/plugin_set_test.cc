#include "sched/plugin_set.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"

namespace strata {
namespace {

using testing::ClusterBuilder;

// Votes the same on every job, and refuses with a message of its own.
class Voter final : public JobGatePoint {
 public:
  explicit Voter(Vote vote, std::string message = "") : vote_(vote), message_(std::move(message)) {}
  [[nodiscard]] Ballot Enqueueable(const Job& /*job*/) const override {
    return {vote_, {"Refused", message_}};
  }
  [[nodiscard]] Vote Pipelined(const Job& /*job*/) const override { return vote_; }

 private:
  Vote vote_;
  std::string message_;
};

// Prefers the job with this name.
class Preference final : public OrderPoint {
 public:
  explicit Preference(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] int CompareJobs(const Job& a, const Job& b) const override {
    return static_cast<int>(b.spec.name == name_) - static_cast<int>(a.spec.name == name_);
  }

 private:
  std::string name_;
};

// One job, and the votes of the plugins of each tier.
class Votes : public ::testing::Test {
 protected:
  Votes() { cluster_.Job("j", {.tasks = 1}); }
  [[nodiscard]] bool Passes(const std::vector<std::vector<Vote>>& tiers) {
    Points points;
    voters_.clear();
    for (const std::vector<Vote>& tier : tiers) {
      points.tiers.emplace_back();
      for (const Vote vote : tier) {
        voters_.push_back(std::make_unique<Voter>(vote));
        points.tiers.back().job_pipelined.push_back(voters_.back().get());
      }
    }
    return PluginSet(cluster_.state, {}, std::move(points)).JobPipelined(cluster_.JobNamed("j"));
  }

  ClusterBuilder cluster_;
  std::vector<std::unique_ptr<Voter>> voters_;
};

TEST_F(Votes, PassWithoutAnOpinion) {
  EXPECT_TRUE(Passes({}));
  EXPECT_TRUE(Passes({{Vote::kAbstain}, {Vote::kAbstain}}));
}

TEST_F(Votes, APermitEndsTheQuestionBeforeLaterTiersAreAsked) {
  EXPECT_TRUE(Passes({{Vote::kPermit}, {Vote::kReject}}));
  EXPECT_FALSE(Passes({{Vote::kAbstain}, {Vote::kReject}}));
}

TEST_F(Votes, ARejectBeatsAPermitOfTheSameTier) {
  EXPECT_FALSE(Passes({{Vote::kPermit, Vote::kReject}}));
}

TEST_F(Votes, TheRefusalIsThatOfTheFirstPluginThatRejects) {
  const Voter first(Vote::kReject, "first");
  const Voter second(Vote::kReject, "second");
  Points points;
  points.tiers.emplace_back().enqueueable = {&first, &second};
  const PluginSet plugins(cluster_.state, {}, std::move(points));
  EXPECT_EQ(plugins.NotEnqueueable(cluster_.JobNamed("j"))->message, "first");
}

TEST(PluginSet, TheFirstPluginWithAPreferenceOrdersJobs) {
  ClusterBuilder cluster;
  cluster.Job("a", {.tasks = 1}).Job("b", {.tasks = 1}).Job("c", {.tasks = 1});
  const Preference first("b");
  const Preference second("c");
  Points points;
  points.job_order = {&first, &second};
  const PluginSet plugins(cluster.state, {}, std::move(points));
  const auto before = [&](const char* left, const char* right) {
    return plugins.JobBefore(cluster.FindJob(left), cluster.FindJob(right));
  };
  EXPECT_TRUE(before("b", "c"));
  EXPECT_TRUE(before("c", "a"));
  EXPECT_FALSE(before("a", "b"));
}

// As in Volcano: uids are random, and users who create jobs a, b and c expect that order.
TEST(PluginSet, JobsOfTheSameSecondStartByNamespaceAndName) {
  ClusterBuilder cluster;
  for (const auto& [name, uid] :
       {std::pair("b/x", "1"), std::pair("a/y", "2"), std::pair("a/x", "3")}) {
    JobSpec spec;
    spec.name = name;
    spec.uid = uid;
    spec.queue = "default";
    cluster.state.workload().UpsertJob(std::move(spec));
  }
  const PluginSet plugins(cluster.state, {}, {});
  const auto before = [&](const char* left, const char* right) {
    return plugins.JobBefore(*cluster.state.workload().FindJob(left),
                             *cluster.state.workload().FindJob(right));
  };
  EXPECT_TRUE(before("a/x", "a/y"));
  EXPECT_TRUE(before("a/y", "b/x"));
  EXPECT_FALSE(before("b/x", "a/x"));
}

}  // namespace
}  // namespace strata
