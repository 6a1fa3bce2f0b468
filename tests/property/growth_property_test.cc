// Crowded clusters in which jobs that run want more: further replicas, and pods of a higher task
// priority than those that run.
#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/property/closed_system.h"
#include "tests/property/crowd.h"
#include "tests/support/cycle.h"
#include "tests/support/property.h"
#include "tests/support/recount.h"
#include "tests/support/state_dump.h"

namespace strata::testing {
namespace {

// Every pod may be wanted, not those of the minimums alone. 1: pods of one job may replace each
// other.
SchedulerConfig GrowingConfig(const std::string& action, int exchange) {
  SchedulerConfig config = CrowdConfig(action);
  for (auto& tier : config.tiers) {
    for (PluginConfig& plugin : tier) {
      if (plugin.name != "gang") continue;
      plugin.switches["enableJobStarving"] = false;
      if (exchange == 1) plugin.switches["enablePreemptable"] = false;
    }
  }
  return config;
}

// A cluster whose jobs have two more pods each, one of them important.
std::unique_ptr<ClusterBuilder> BuildGrowing(const Crowd& crowd, unsigned seed) {
  auto cluster = Build(crowd, seed);
  for (std::size_t i = 0; i < crowd.jobs.size(); ++i) {
    const std::string job = "j" + std::to_string(i);
    const Amount cores = CrowdCores(static_cast<int>(i));
    cluster->Task(job, {.cpu = cores}).Task(job, {.cpu = cores, .role = "ps", .priority = 5});
  }
  return cluster;
}

std::string AnyGrowing() {
  const char* const actions[] = {"preempt", "gangpreempt", "reclaim", "gangreclaim"};
  return actions[*Below(4).as("action")];
}

std::string ToText(const Decisions& decisions) {
  std::ostringstream text;
  text << decisions;
  return text.str();
}

// The jobs that have their minimums by pods of these statuses.
std::map<std::string, bool> CompleteJobs(const ClusterState& state, bool with_waiting) {
  std::map<std::string, bool> complete;
  for (const JobId id : state.workload().jobs()) {
    const Job& job = state.workload().job(id);
    const auto count = [&](const TaskCounts& counts) {
      return counts.Of(TaskStatus::kRunning) + counts.Of(TaskStatus::kBinding) +
             (with_waiting ? counts.Of(TaskStatus::kPipelined) : 0);
    };
    std::int32_t sum = 0;
    for (const Role& role : job.roles) sum += role.min_member;
    complete[job.spec.name] =
        count(job.counts) >= job.spec.min_available &&
        (sum > job.spec.min_available ||
         std::all_of(job.roles.begin(), job.roles.end(), [&](const Role& role) {
           return count(role.counts) >= role.min_member;
         }));
    for (std::size_t policy = 0; policy < job.spec.sub_groups.size(); ++policy) {
      const auto whole =
          std::count_if(job.sub_jobs.begin(), job.sub_jobs.end(), [&](const SubJob& sub_job) {
            return sub_job.key && sub_job.key->policy == policy &&
                   count(sub_job.counts) >= sub_job.min_available;
          });
      if (whole < job.spec.sub_groups[policy].min_sub_groups) complete[job.spec.name] = false;
    }
  }
  return complete;
}

TEST(GrowthProperty, BreaksNoGang) {
  CheckProperty(500, [] {
    const Crowd crowd = *AnyCrowd(5, 1).as("crowd");
    const std::string action = *Below(2).as("reclaims") == 0 ? "preempt" : "reclaim";
    const int exchange = *Below(2).as("exchange");
    const auto cluster = BuildGrowing(crowd, 0);
    // Without the vote of the gang plugin gangs may be broken, but for others that lack a minimum.
    if (exchange == 1) cluster->state.workload().RemoveJob(cluster->FindJob("g0"));
    const auto before = CompleteJobs(cluster->state, false);
    Cycles cycles(cluster->state, GrowingConfig(action, exchange));
    cycles.SetNow(CrowdNow());
    std::string broken;
    std::string mistakes;
    const Decisions decided = cycles.Run(nullptr, [&] {
      const auto after = CompleteJobs(cluster->state, exchange == 1);
      for (const auto& [job, complete] : before) {
        if (complete && !after.at(job)) broken += job + " ";
      }
      for (const NodeId node : cluster->state.nodes().all()) {
        const auto future = cluster->state.nodes().FutureIdle(node);
        if (std::any_of(future.begin(), future.end(), [](Amount one) { return one < 0; })) {
          broken += "a node is promised twice";
        }
      }
      mistakes = RecountMistakes(cluster->state);
    });
    RC_LOG() << ToText(decided);
    RC_CLASSIFY(!decided.evicted.empty());
    RC_ASSERT(broken == "");
    RC_ASSERT(mistakes == "");
  });
}

TEST(GrowthProperty, DecidesTheSameInAnyOrder) {
  CheckProperty(300, [] {
    const Crowd crowd = *AnyCrowd(5, 2).as("crowd");
    const std::string action = AnyGrowing();
    const SchedulerConfig config = GrowingConfig(action, *Below(2).as("exchange"));
    const auto plain = BuildGrowing(crowd, 0);
    const auto shuffled = BuildGrowing(crowd, 1U + *rc::gen::arbitrary<std::uint16_t>().as("seed"));
    Cycles of_plain(plain->state, config);
    Cycles of_shuffled(shuffled->state, config);
    for (int cycle = 0; cycle < 2; ++cycle) {
      of_plain.SetNow(CrowdNow());
      of_shuffled.SetNow(CrowdNow());
      const std::string decided = ToText(of_plain.Run());
      RC_LOG() << decided;
      RC_ASSERT(ToText(of_shuffled.Run()) == decided);
      RC_ASSERT(DumpState(plain->state) == DumpState(shuffled->state));
      Advance(plain->state);
      Advance(shuffled->state);
    }
  });
}

TEST(GrowthProperty, AClosedSystemComesToRest) {
  CheckProperty(300, [] {
    const Crowd crowd = *AnyCrowd(5, 2).as("crowd");
    const std::string action = AnyGrowing();
    const auto cluster = BuildGrowing(crowd, 0);
    ClosedSystem system(cluster->state, GrowingConfig(action, *Below(2).as("exchange")));
    int quiet = 0;
    int cycles = 0;
    for (; cycles < 80 && quiet < 6; ++cycles) quiet = system.RunCycle() == 0 ? quiet + 1 : 0;
    RC_CLASSIFY(cycles > 6);
    RC_ASSERT(quiet == 6);
  });
}

}  // namespace
}  // namespace strata::testing
