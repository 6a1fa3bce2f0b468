// Random crowded clusters through one cycle with each action that evicts.
#include <array>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "sched/scheduler.h"
#include "tests/property/closed_system.h"
#include "tests/property/crowd.h"
#include "tests/property/eviction_check.h"
#include "tests/property/eviction_oracle.h"
#include "tests/support/cycle.h"
#include "tests/support/property.h"
#include "tests/support/recount.h"
#include "tests/support/state_dump.h"

namespace strata::testing {
namespace {

constexpr std::array<const char*, 4> kEvictions = {
    "gangpreempt", "preempt", "gangreclaim", "reclaim"};

std::string AnyEviction() {
  return kEvictions[static_cast<std::size_t>(*Below(4).as("action"))];
}

std::string TextOf(const Decisions& decisions) {
  std::ostringstream text;
  text << decisions;
  return text.str();
}

TEST(EvictionProperty, KeepsItsPromises) {
  CheckProperty(900, [] {
    const Crowd crowd = *AnyCrowd(5, 3).as("crowd");
    const std::string action = AnyEviction();
    const auto cluster = Build(crowd, 0);
    Cycles cycles(cluster->state, CrowdConfig(action));
    cycles.SetNow(CrowdNow());
    EvictionCheck check(cluster->state, action, CrowdNow());
    std::string faults;
    std::string mistakes;
    const Decisions decided = cycles.Run(nullptr, [&] {
      faults = check.FaultsInside();
      mistakes = RecountMistakes(cluster->state);
    });
    RC_LOG() << TextOf(decided);
    RC_CLASSIFY(!decided.evicted.empty());
    RC_ASSERT(faults == "");
    RC_ASSERT(mistakes == "");
  });
}

// The order of the input, a listener and a new scheduler change nothing.
TEST(EvictionProperty, DecidesTheSameInAnyOrder) {
  CheckProperty(500, [] {
    const Crowd crowd = *AnyCrowd(5, 3).as("crowd");
    const std::string action = AnyEviction();
    const auto plain = Build(crowd, 0);
    const auto shuffled = Build(crowd, 1U + *rc::gen::arbitrary<std::uint16_t>().as("seed"));
    Cycles of_plain(plain->state, CrowdConfig(action));
    Cycles of_shuffled(shuffled->state, CrowdConfig(action));
    TraceLog trace;
    for (int cycle = 0; cycle < 2; ++cycle) {
      of_plain.SetNow(CrowdNow());
      of_shuffled.SetNow(CrowdNow());
      const std::string decided = TextOf(of_plain.Run());
      RC_LOG() << decided;
      RC_ASSERT(TextOf(of_shuffled.Run(&trace)) == decided);
      RC_ASSERT(DumpState(plain->state) == DumpState(shuffled->state));
      Advance(plain->state);
      Advance(shuffled->state);
    }
  });
}

// What was only tried is undone to the last unit.
TEST(EvictionProperty, ADryRunChangesNothing) {
  CheckProperty(300, [] {
    const Crowd crowd = *AnyCrowd(5, 3).as("crowd");
    const std::string action = AnyEviction();
    const auto cluster = Build(crowd, 0);
    SchedulerConfig config = CrowdConfig(action, true);
    config.actions.resize(2);  // what allocate places is there before
    Cycles(cluster->state, config).Run();
    Advance(cluster->state);
    config = CrowdConfig(action, true);
    config.actions.erase(config.actions.begin(), config.actions.begin() + 2);
    const std::string before = DumpState(cluster->state);
    Cycles cycles(cluster->state, config);
    cycles.SetNow(CrowdNow());
    std::string inside;
    cycles.Run(nullptr, [&] { inside = DumpState(cluster->state); });
    RC_ASSERT(inside == before);
  });
}

void CompareWithOracle(Crowd crowd, const std::string& action) {
  RemoveSubGroups(crowd);  // the oracle knows none
  const CrowdGang& gang = crowd.gangs[0];
  const auto cluster = Build(crowd, 0);
  const auto cheapest = CheapestPlan(*cluster, gang, action);
  auto made = Scheduler::Make(CrowdConfig(action), cluster->state);
  made->scheduler->Open(CrowdNow(), nullptr);
  made->scheduler->RunActions();
  const CycleResult result = made->scheduler->Close();
  const bool needs_nobody = cheapest && cheapest->levels.empty();
  RC_CLASSIFY(cheapest.has_value() && !needs_nobody);
  RC_CLASSIFY(!cheapest.has_value());
  if (!cheapest || needs_nobody) {
    RC_ASSERT(result.evictions.empty());
    return;
  }
  std::ostringstream expected;
  std::ostringstream found;
  expected << *cheapest;
  RC_ASSERT(result.evictions.size() == 1U);
  found << CostOf(*cluster, gang, result.evictions[0]);
  RC_ASSERT(found.str() == expected.str());
}

TEST(EvictionProperty, CostsWhatAnExhaustiveSearchFinds) {
  CheckProperty(700, [] {
    Crowd crowd = *AnyCrowd(3, 1).as("crowd");
    crowd.gangs[0].priority = 3;
    for (CrowdJob& job : crowd.jobs) job.queue = crowd.gangs[0].queue;
    CompareWithOracle(crowd, *Below(2).as("by gang") == 0 ? "gangpreempt" : "preempt");
  });
}

TEST(EvictionProperty, ReclaimCostsWhatAnExhaustiveSearchFinds) {
  CheckProperty(700, [] {
    Crowd crowd = *AnyCrowd(4, 1).as("crowd");
    crowd.gangs[0].priority = 3;
    crowd.gangs[0].queue = 2;  // deserves most often something, and nobody of it runs
    for (CrowdJob& job : crowd.jobs) job.queue %= 2;
    CompareWithOracle(crowd, *Below(2).as("by gang") == 0 ? "gangreclaim" : "reclaim");
  });
}

TEST(EvictionProperty, AClosedSystemComesToRest) {
  CheckProperty(300, [] {
    const Crowd crowd = *AnyCrowd(5, 3).as("crowd");
    const std::string action = AnyEviction();
    const auto cluster = Build(crowd, 0);
    ClosedSystem system(cluster->state, CrowdConfig(action));
    int quiet = 0;
    int cycles = 0;
    for (; cycles < 60 && quiet < 6; ++cycles) quiet = system.RunCycle() == 0 ? quiet + 1 : 0;
    RC_CLASSIFY(cycles > 6);
    RC_ASSERT(quiet == 6);
  });
}

}  // namespace
}  // namespace strata::testing
