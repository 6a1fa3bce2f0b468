#include "sched/plugins/sla.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/plugins/test_cluster.h"

namespace strata {
namespace {

Time Minute(int minutes) {
  return Time(std::chrono::minutes(minutes));
}

struct SlaCluster : TestCluster {
  SlaCluster() { AddQueue("q"); }

  JobId AddJobAt(const std::string& name, Time created, std::optional<Duration> waiting_time = {}) {
    JobSpec spec;
    spec.name = name;
    spec.queue = "q";
    spec.created = created;
    spec.sla_waiting_time = waiting_time;
    return state.workload().UpsertJob(std::move(spec));
  }
  [[nodiscard]] TestPlugin OpenAt(Time now, const TestArguments& arguments = {}) {
    TestPlugin plugin = OpenPlugin(*this, "sla", arguments);
    plugin.plugin->Open(state, now);
    return plugin;
  }
};

TEST(Sla, JobsComeByWhenTheyAreDueAndThoseWithoutATimeLast) {
  SlaCluster c;
  const JobId soon = c.AddJobAt("ns/soon", Minute(10), std::chrono::minutes(5));
  const JobId later = c.AddJobAt("ns/later", Minute(0), std::chrono::minutes(20));
  const JobId never = c.AddJobAt("ns/never", Minute(0));
  const TestPlugin plugin = c.OpenAt(Minute(0));
  const auto compare = [&](JobId a, JobId b) {
    return plugin.As<OrderPoint>().CompareJobs(c.state.workload().job(a),
                                               c.state.workload().job(b));
  };
  EXPECT_LT(compare(soon, later), 0);
  EXPECT_GT(compare(never, later), 0);
  EXPECT_LT(compare(soon, never), 0);
  EXPECT_EQ(compare(never, never), 0);
}

TEST(Sla, AJobThatHasWaitedItsTimeIsPermitted) {
  SlaCluster c;
  const JobId job = c.AddJobAt("ns/j", Minute(10), std::chrono::minutes(5));
  const auto votes = [&](Time now) {
    const TestPlugin plugin = c.OpenAt(now);
    const auto& gate = plugin.As<JobGatePoint>();
    return std::pair(gate.Enqueueable(c.state.workload().job(job)).vote,
                     gate.Pipelined(c.state.workload().job(job)));
  };
  EXPECT_EQ(votes(Minute(14)), std::pair(Vote::kAbstain, Vote::kAbstain));
  EXPECT_EQ(votes(Minute(15)), std::pair(Vote::kPermit, Vote::kPermit));
}

TEST(Sla, TheArgumentIsForJobsThatNameNoTimeThemselves) {
  SlaCluster c;
  const JobId own = c.AddJobAt("ns/own", Minute(0), std::chrono::hours(2));
  const JobId other = c.AddJobAt("ns/other", Minute(0));
  const TestPlugin plugin = c.OpenAt(Minute(90), {{"sla-waiting-time", "1h15m"}});
  const auto& gate = plugin.As<JobGatePoint>();
  EXPECT_EQ(gate.Enqueueable(c.state.workload().job(own)).vote, Vote::kAbstain);
  EXPECT_EQ(gate.Enqueueable(c.state.workload().job(other)).vote, Vote::kPermit);
  EXPECT_EQ(c.OpenAt(Minute(90)).As<JobGatePoint>().Enqueueable(c.state.workload().job(other)).vote,
            Vote::kAbstain);
}

TEST(Sla, RejectsAWaitingTimeThatIsNotAPositiveDuration) {
  ResourceNames names;
  EXPECT_EQ(TryPlugin("sla", {{"sla-waiting-time", "soon"}}, names).error().message,
            "sla: sla-waiting-time: want a duration such as 1h30m or 300ms, found \"soon\"");
  EXPECT_EQ(TryPlugin("sla", {{"sla-waiting-time", "-1h"}}, names).error().message,
            "sla: sla-waiting-time: want a duration above 0, found \"-1h\"");
  EXPECT_FALSE(TryPlugin("sla", {{"sla-waiting-time", std::int64_t{10}}}, names).has_value());
}

}  // namespace
}  // namespace strata
