// Random clusters under a scheduler whose cycles have a budget, from one that allows a single turn
// to one that is never used up, with random events in between: what a cycle decides must be right,
// and when nothing more is decided, no job may be left waiting that has a place.
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/property/cycle_check.h"
#include "tests/property/world.h"
#include "tests/support/cycle.h"
#include "tests/support/property.h"

namespace strata::testing {
namespace {

// What was bound runs. What terminates stays.
void StartBound(ClusterState& state) {
  for (const TaskId id : state.workload().AllTasks()) {
    if (state.workload().task(id).status != TaskStatus::kBinding) continue;
    state.workload().SetTaskStatus(id, TaskStatus::kRunning);
  }
}

// Runs cycles until one of them binds nothing and leaves nothing over; returns what it decided.
Decisions RunUntilNothingIsLeft(Cycles& cycles, ClusterState& state) {
  constexpr int kMaxCycles = 500;  // far more than there are jobs
  std::string before;
  for (int i = 0; i < kMaxCycles; ++i) {
    CycleCheck check(state);
    std::string inside;
    Decisions decisions = cycles.Run(nullptr, [&] { inside = check.FaultsInside(); });
    std::ostringstream text;
    text << decisions;
    RC_LOG() << "cycle:\n" << text.str();
    RC_ASSERT(inside == "");
    RC_ASSERT(check.FaultsAfter(decisions) == "");
    StartBound(state);
    // Jobs that are admitted by one cycle are placed by it; phases settle in one more.
    const bool same = text.str() == before;
    if (same && decisions.binds.empty() && cycles.left() == CycleResult::Left::kNone) {
      return decisions;
    }
    before = text.str();
  }
  RC_FAIL("the cycles do not come to an end");
  return {};
}

void NoJobIsLeftThatHasAPlace(const World& world, std::uint64_t budget) {
  const auto state = Build(world, 1);
  Cycles cycles(*state);
  cycles.LimitWork(budget);
  Decisions last = RunUntilNothingIsLeft(cycles, *state);
  for (const EventGene& event : world.events) {
    if (event.where % 3 == 0) Advance(*state);
    Happen(world, event, *state);
    if (event.where % 2 == 0) last = RunUntilNothingIsLeft(cycles, *state);
  }
  last = RunUntilNothingIsLeft(cycles, *state);
  const Decisions afresh = RunCycle(*state);
  std::ostringstream text;
  text << afresh;
  RC_LOG() << "without a budget:\n" << text.str();
  RC_ASSERT(afresh.binds.empty());
  RC_ASSERT(afresh.pipelined == last.pipelined);
  RC_ASSERT(afresh.verdicts.size() == last.verdicts.size());
}

rc::Gen<std::uint64_t> AnyBudget() {
  return rc::gen::element<std::uint64_t>(1, 10, 100, 1'000, 1'000'000'000);
}

TEST(BudgetProperty, EveryJobThatHasAPlaceIsPlacedInTheEnd) {
  CheckProperty(
      400, [] { NoJobIsLeftThatHasAPlace(*AnyWorld().as("world"), *AnyBudget().as("budget")); });
}

}  // namespace
}  // namespace strata::testing
