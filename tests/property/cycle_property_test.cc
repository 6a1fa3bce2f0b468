// Random clusters go through several cycles, with random events between them, three times at once:
// as they came; in another order and with a listener; and in a third order with a new scheduler for
// every cycle. All three must decide the same, and what they decide must be right.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/property/cycle_check.h"
#include "tests/property/trace_check.h"
#include "tests/property/world.h"
#include "tests/support/cycle.h"
#include "tests/support/property.h"
#include "tests/support/state_dump.h"

namespace strata::testing {
namespace {

constexpr int kCycles = 4;

void Step(const World& world, int cycle, ClusterState& state) {
  Advance(state);
  for (std::size_t i = static_cast<std::size_t>(cycle); i < world.events.size(); i += kCycles - 1) {
    Happen(world, world.events[i], state);
  }
}

std::string Text(const Decisions& decisions) {
  std::ostringstream text;
  text << decisions;
  return text.str();
}

TEST(CycleProperty, KeepsItsPromises) {
  CheckProperty(1200, [] {
    const World world = *AnyWorld().as("world");
    const auto state = Build(world, 1);
    Cycles cycles(*state);
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      CycleCheck check(*state);
      std::string inside;
      const Decisions decisions = cycles.Run(nullptr, [&] { inside = check.FaultsInside(); });
      RC_LOG() << "cycle " << cycle << ":\n" << Text(decisions);
      RC_ASSERT(inside == "");
      RC_ASSERT(check.FaultsAfter(decisions) == "");
      Step(world, cycle, *state);
    }
  });
}

TEST(CycleProperty, ChoosesTheBestByItsOwnTrace) {
  CheckProperty(800, [] {
    const World world = *AnyWorld().as("world");
    const auto state = Build(world, 1);
    Cycles cycles(*state);
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      TraceCheck check(*state);
      TraceLog trace;
      const Decisions decisions = cycles.Run(&trace);
      RC_LOG() << "cycle " << cycle << ":\n" << Text(decisions);
      RC_ASSERT(check.Faults(trace.records()) == "");
      Step(world, cycle, *state);
    }
  });
}

// The three clusters of the same world decide the same, cycle after cycle.
void DecideTheSame(const World& world, unsigned seed) {
  const auto plain = Build(world, 1);
  const auto listened = Build(world, 2U + seed);
  const auto forgetful = Build(world, 70'000U + seed);
  RC_ASSERT(DumpState(*plain) == DumpState(*listened));
  Cycles of_plain(*plain);
  Cycles of_listened(*listened);
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    TraceLog trace;
    const std::string decided = Text(of_plain.Run());
    RC_LOG() << "cycle " << cycle << ":\n" << decided;
    RC_ASSERT(Text(of_listened.Run(&trace)) == decided);
    RC_ASSERT(Text(RunCycle(*forgetful)) == decided);
    RC_ASSERT(DumpState(*listened) == DumpState(*plain));
    RC_ASSERT(DumpState(*forgetful) == DumpState(*plain));
    for (ClusterState* state : {plain.get(), listened.get(), forgetful.get()}) {
      Step(world, cycle, *state);
    }
    plain->workload().ForgetIdleClasses(0);
  }
}

// Jobs of one plain pod each, of few kinds, on nodes that are mostly alike: whole racks tie, and
// what is kept of them from pod to pod decides.
World Levelled(World world) {
  for (NodeGene& node : world.nodes) {
    node = {.cpu = node.cpu % 2, .leaf = node.leaf, .second = node.second};
  }
  world.queues.resize(1);
  world.queues[0] = {};
  std::vector<JobGene> jobs;
  for (const JobGene& job : world.jobs) {
    for (const TaskGene& task : job.tasks) {
      jobs.push_back({.tasks = {{.shape = task.shape % 3}}});
    }
  }
  world.jobs = std::move(jobs);
  return world;
}

// A job of parts, each of which wants a rack for itself or shares one, over racks of nodes that
// differ, some of them smaller than what runs there: what is known of a rack from one part must be
// right for the next.
World Parted(World world) {
  constexpr int kRacks = 4;
  world.hypernodes.assign(kRacks, {.parent = kRacks + 1});
  world.hypernodes.push_back({.tier = 1});
  for (NodeGene& node : world.nodes) {
    node = {.cpu = node.cpu, .leaf = 1 + node.leaf % kRacks, .shrunk = node.taint > 0};
  }
  world.queues.resize(1);
  world.queues[0] = {.capability = world.queues[0].capability};
  std::vector<TaskGene> tasks;
  for (JobGene& job : world.jobs) {
    for (TaskGene& task : job.tasks) {
      tasks.push_back({.shape = task.shape % 3, .part = static_cast<int>(tasks.size()) / 2 % 3});
      task = {.shape = task.shape % 3, .status = 6, .node = task.node};  // runs
    }
    job = {.slack = static_cast<int>(job.tasks.size()), .tasks = job.tasks};
  }
  tasks.resize(std::min<std::size_t>(tasks.size(), 6));
  world.jobs.push_back({.slack = static_cast<int>(tasks.size()) / 3,
                        .mode = static_cast<int>(tasks.size()) % 2,
                        .tier = 2,
                        .policy = 2,
                        .part_size = 1,
                        .tasks = tasks});
  return world;
}

// The first job runs in part, and nothing of the others has a place: a restart in the middle of its
// binds.
World Interrupted(World world) {
  constexpr int kRuns = 6;
  for (JobGene& job : world.jobs) {
    for (TaskGene& task : job.tasks) task.status = 0;
  }
  JobGene& gang = world.jobs[0];
  for (std::size_t i = 0; i < gang.tasks.size() / 2; ++i) gang.tasks[i].status = kRuns;
  gang.slack = 0;
  return world;
}

// Whether the first job of the world has its minimum after one cycle. Only worlds where it begins
// with some pods, but not with enough, are asked about.
bool CompletesFirstJob(const World& world) {
  const auto state = Build(world, 1);
  const Job& gang = state->workload().job(*state->workload().FindJob("j0"));
  RC_PRE(gang.counts.Allocated() > 0 && gang.counts.Ready() < gang.spec.min_available);
  RunCycle(*state);
  return gang.counts.Ready() >= gang.spec.min_available;
}

TEST(CycleProperty, AnIncompleteGangIsCompletedAsIfItWereAlone) {
  CheckProperty(400, [] {
    const World world = *rc::gen::map(AnyWorld(), Interrupted).as("world");
    World alone = world;
    alone.jobs.resize(1);
    const bool completes = CompletesFirstJob(alone);
    RC_CLASSIFY(completes);
    RC_ASSERT(CompletesFirstJob(world) == completes);
  });
}

TEST(CycleProperty, PartsDependOnNothingThatIsRememberedOfThePartsBefore) {
  CheckProperty(800, [] {
    const World world = *rc::gen::map(AnyWorld(), Parted).as("world");
    DecideTheSame(world, *rc::gen::arbitrary<std::uint16_t>().as("seed"));
  });
}

TEST(CycleProperty, DependsNeitherOnOrderNorOnListenersNorOnWhatIsRemembered) {
  CheckProperty(800, [] {
    const World world = *AnyWorld().as("world");
    DecideTheSame(world, *rc::gen::arbitrary<std::uint16_t>().as("seed"));
  });
}

TEST(CycleProperty, PlainPodsOnEqualRacksDependOnNothingThatIsRememberedEither) {
  CheckProperty(400, [] {
    const World world = *rc::gen::map(AnyWorld(), Levelled).as("world");
    DecideTheSame(world, *rc::gen::arbitrary<std::uint16_t>().as("seed"));
  });
}

}  // namespace
}  // namespace strata::testing
