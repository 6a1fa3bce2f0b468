#include "replay/engine.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "replay/checker.h"
#include "replay/figures.h"
#include "replay/generate.h"
#include "replay/lab_report.h"
#include "replay/test_workload.h"

namespace strata::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Millis> StartsOf(const EngineResult& result) {
  std::vector<Millis> starts;
  for (const JobRun& run : result.runs) starts.push_back(run.start);
  return starts;
}

// One node of 8 GPUs: a holds 4 of them for 10 s, b wants all 8, c wants 2 for 8 s, d 2 for 100 s.
std::vector<TraceJob> Crossing() {
  return {TestJob("a", 0, 10, 1, 4),
          TestJob("b", 1, 5, 1, 8),
          TestJob("c", 2, 8, 1, 2),
          TestJob("d", 3, 100, 1, 2)};
}

TEST(Replay, FifoLetsTheHeadBlockAndSkipDoesNot) {
  const Fabric fabric = MakeFabric(1, 1, 1, 8);
  const Workload workload = TestWorkload(Crossing(), fabric);
  const auto fifo = TestReplay(workload, fabric, "rule:first-fit", {.check = true});
  EXPECT_THAT(StartsOf(fifo), ElementsAre(0, 10'000, 15'000, 15'000));
  const auto skip = TestReplay(
      workload, fabric, "rule:first-fit", {.discipline = Discipline::kSkip, .check = true});
  EXPECT_THAT(StartsOf(skip), ElementsAre(0, 103'000, 2000, 3000));
  EXPECT_THAT(fifo.faults, IsEmpty());
  EXPECT_THAT(skip.faults, IsEmpty());
}

TEST(Replay, EasyStartsLaterJobsThatDoNotDelayTheHead) {
  const Fabric fabric = MakeFabric(1, 1, 1, 8);
  const Workload workload = TestWorkload(Crossing(), fabric);
  const auto easy = TestReplay(
      workload, fabric, "rule:first-fit", {.discipline = Discipline::kEasy, .check = true});
  // c is over when a is; d would hold b up.
  EXPECT_THAT(StartsOf(easy), ElementsAre(0, 10'000, 2000, 15'000));
  EXPECT_THAT(easy.faults, IsEmpty());
}

TEST(Replay, EndsComeBeforeArrivalsOfTheSameMoment) {
  const Fabric fabric = MakeFabric(1, 1, 1, 8);
  const Workload workload = TestWorkload(
      {TestJob("a", 0, 10, 1, 8), TestJob("b", 10, 0, 1, 8), TestJob("c", 10, 1, 1, 8)}, fabric);
  const auto result = TestReplay(workload, fabric, "strata", {.check = true});
  EXPECT_THAT(StartsOf(result), ElementsAre(0, 10'000, 10'000));
  EXPECT_THAT(result.faults, IsEmpty());
}

TEST(Replay, PriorityComesBeforeSubmission) {
  const Fabric fabric = MakeFabric(1, 1, 1, 8);
  std::vector<TraceJob> jobs = {
      TestJob("a", 0, 10, 1, 8), TestJob("b", 1, 10, 1, 8), TestJob("c", 2, 10, 1, 8)};
  jobs[2].priority = 5;
  const auto result = TestReplay(TestWorkload(jobs, fabric), fabric, "rule:binpack");
  EXPECT_THAT(StartsOf(result), ElementsAre(0, 20'000, 10'000));
}

TEST(Replay, JobsThatNeverFitAreLeftOutAndBlockNobody) {
  const Fabric fabric = MakeFabric(1, 2, 2, 8);
  std::vector<TraceJob> jobs = {TestJob("large", 0, 10, 5, 8), TestJob("b", 1, 10, 1, 8)};
  jobs.push_back(TestJob("wide", 2, 10, 3, 8));
  jobs[2].wish = Wish::kHard;
  jobs[2].tier = "1";
  for (const char* policy : {"strata", "rule:lowest-switch"}) {
    const Workload workload = TestWorkload(jobs, fabric);
    const auto result = TestReplay(workload, fabric, policy, {.check = true});
    EXPECT_THAT(StartsOf(result), ElementsAre(JobRun::kNever, 1000, JobRun::kNever)) << policy;
    EXPECT_THAT(result.faults, IsEmpty()) << policy;
    EXPECT_EQ(MakeFigures(workload, fabric, result).never_fit, 2);
  }
}

// A node takes a thousand pods, as the core has it: a gang of pods without GPUs is finite.
TEST(Replay, CountsPodsOfANode) {
  const Fabric fabric = MakeFabric(1, 1, 2, 8);
  const Workload workload = TestWorkload({TestJob("many", 0, 10, 2001, 0),
                                          TestJob("most", 0, 10, 2000, 0),
                                          TestJob("one more", 1, 10, 1, 0)},
                                         fabric);
  for (const char* policy : {"strata", "rule:first-fit"}) {
    const auto result = TestReplay(workload, fabric, policy, {.check = true});
    EXPECT_THAT(StartsOf(result), ElementsAre(JobRun::kNever, 0, 10'000)) << policy;
  }
}

TEST(Replay, MeasuresWhereGangsLie) {
  // Two racks of two nodes: the first gang fits into one, the second does not.
  const Fabric fabric = MakeFabric(1, 2, 2, 8);
  const Workload workload = TestWorkload(
      {TestJob("a", 0, 100, 1, 8), TestJob("b", 1, 100, 2, 8), TestJob("c", 200, 9, 3, 8)}, fabric);
  for (const char* policy : {"strata", "rule:lowest-switch"}) {
    const auto result = TestReplay(workload, fabric, policy, {.check = true});
    EXPECT_EQ(result.runs[1].leaves, 1) << policy;
    EXPECT_EQ(result.runs[1].level, 0) << policy;
    EXPECT_EQ(result.runs[1].crossings, 0) << policy;
    EXPECT_EQ(result.runs[2].leaves, 2) << policy;
    EXPECT_EQ(result.runs[2].level, 1) << policy;
    EXPECT_EQ(result.runs[2].level_could, 1) << policy;
    EXPECT_EQ(result.runs[2].crossings, 2) << policy;
  }
}

TEST(Replay, GangsInSeveralLeavesTakeLongerWhereThatIsDeclared) {
  const Fabric fabric = MakeFabric(1, 2, 1, 8);
  const Workload workload =
      TestWorkload({TestJob("a", 0, 100, 2, 8), TestJob("b", 0, 100, 1, 8)}, fabric);
  const auto result =
      TestReplay(workload, fabric, "rule:first-fit", {.startup = 5000, .crossing_slowdown = 1.5});
  EXPECT_EQ(result.runs[0].end, 155'000);
  EXPECT_EQ(result.runs[1].end, 155'000 + 105'000);
}

TEST(Replay, SaysWhyWaitingJobsAreBlocked) {
  // Two nodes of 8; 5 GPUs of each are in use for 100 s: 6 are free, and no node has 4.
  const Fabric fabric = MakeFabric(1, 1, 2, 8);
  const Workload workload = TestWorkload(
      {TestJob("a", 0, 100, 2, 5), TestJob("b", 0, 100, 1, 4), TestJob("c", 50, 100, 1, 3)},
      fabric);
  const auto result = TestReplay(workload, fabric, "rule:spread");
  const auto blocked = [&](BlockedBy why) { return result.blocked[static_cast<std::size_t>(why)]; };
  EXPECT_EQ(blocked(BlockedBy::kFragmentation), 4 * 100'000);
  EXPECT_EQ(blocked(BlockedBy::kOrder), 3 * 50'000);
  EXPECT_EQ(blocked(BlockedBy::kCapacity), 0);
}

TEST(Replay, StopsWhenItIsTold) {
  const Fabric fabric = MakeFabric(1, 1, 1, 8);
  GenerateTraceSpec spec;
  spec.jobs = 10'000;
  const Workload workload = TestWorkload(GenerateTrace(spec, 1).jobs, fabric);
  const auto result =
      TestReplay(workload, fabric, "rule:first-fit", {.go_on = [](std::size_t) { return false; }});
  EXPECT_TRUE(result.stopped);
}

// Random traces on random clusters, every policy and queue: the checker, which knows nothing of
// them, finds nothing wrong.
TEST(Replay, HoldsItsPromisesOnRandomTraces) {
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    const auto draw = [&](std::uint64_t bound) { return static_cast<int>(random.Below(bound)); };
    const Fabric fabric = MakeFabric(1 + draw(2), 1 + draw(3), 1 + draw(4), 4);
    GenerateTraceSpec spec{.jobs = 60, .rate = 0.05, .duration = 60, .gpus_per_pod = 4};
    spec.sizes = {{1, 4}, {2, 2}, {4, 2}, {8, 2}, {10, 1}, {16, 1}};
    std::vector<TraceJob> jobs = GenerateTrace(spec, random.Next()).jobs;
    for (TraceJob& job : jobs) {
      job.priority = draw(3);
      if (draw(4) == 0) job.wish = Wish::kHard;
      job.tier = std::to_string(1 + draw(2));
    }
    const Workload workload = TestWorkload(jobs, fabric);
    for (const PolicyInfo& policy : KnownPolicies()) {
      for (const auto queue : {Discipline::kFifo, Discipline::kSkip, Discipline::kEasy}) {
        const auto result = TestReplay(
            workload, fabric, policy.name, {.discipline = queue, .check = true}, random.Next());
        ASSERT_THAT(result.faults, IsEmpty()) << policy.name << " in round " << round;
      }
    }
  }
}

// M/M/c: the mean wait of Erlang's formula C lies in the interval of twenty seeds. Jobs come every
// 5 s and run for 500 s: 100 servers are in use on average.
TEST(Replay, AgreesWithQueueingTheory) {
  constexpr int kSeeds = 20;
  struct Theory {
    int nodes;  // of eight servers, but for the last one
    int last;
    double wait_s;
    int jobs;  // the longer the waits, the more of them it takes
  };
  for (const Theory& theory :
       {Theory{13, 8, 74.2, 20'000}, Theory{14, 6, 11.85, 8000}, Theory{15, 8, 0.83, 8000}}) {
    Fabric fabric = MakeFabric(1, 1, theory.nodes, 8);
    fabric.nodes.back().gpus = theory.last;
    const GenerateTraceSpec spec{.jobs = theory.jobs, .rate = 0.2, .duration = 500};
    std::vector<double> means;
    double mean = 0;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const Workload workload =
          TestWorkload(GenerateTrace(spec, static_cast<std::uint64_t>(seed)).jobs, fabric);
      const auto result = TestReplay(workload, fabric, "rule:first-fit");
      means.push_back(MakeFigures(workload, fabric, result).wait.mean_s);
      mean += means.back() / kSeeds;
    }
    EXPECT_NEAR(mean, theory.wait_s, Interval95(means)) << fabric.TotalGpus() << " servers";
  }
}

// Gangs of equal pods: the lowest tier with room for one is known exactly, and the core takes it.
TEST(Replay, TheCoreTakesTheLowestTierThatHoldsAGang) {
  Random random(11);
  for (int round = 0; round < 10; ++round) {
    const auto draw = [&](std::uint64_t bound) { return static_cast<int>(random.Below(bound)); };
    const Fabric fabric = MakeFabric(2, 3, 4, 8);
    std::vector<TraceJob> jobs;
    for (int i = 0; i < 300; ++i) {
      const int pods = draw(3) == 0 ? 2 + draw(8) : 1;
      jobs.push_back(
          TestJob("job-" + std::to_string(i), 10 * i, 60 + draw(600), pods, 1 << draw(4)));
    }
    const Workload workload = TestWorkload(jobs, fabric);
    const auto queue = round % 2 == 0 ? Discipline::kFifo : Discipline::kSkip;
    const auto result =
        TestReplay(workload, fabric, "strata", {.discipline = queue, .check = true});
    EXPECT_THAT(result.faults, IsEmpty());
    const Figures figures = MakeFigures(workload, fabric, result);
    EXPECT_GT(figures.gangs.count, 50);
    EXPECT_EQ(figures.gangs.above_possible_tier, 0) << "in round " << round;
  }
}

// ---- the checker, with planted faults

struct Planted {
  Fabric fabric = MakeFabric(1, 2, 2, 8);
  Workload workload;
  Room room{fabric};

  Planted() {
    std::vector<TraceJob> jobs = {TestJob("a", 5, 10, 2, 8), TestJob("b", 5, 10, 1, 4)};
    jobs[0].wish = Wish::kHard;
    jobs[0].tier = "1";
    workload = TestWorkload(jobs, fabric);
  }
};

using Plant = void (*)(Checker&, Room&);
struct Fault {
  const char* said;
  Plant plant;
};

// What the engine could get wrong, one thing at a time. Moments in milliseconds.
const std::vector<Fault>& Faults() {
  static const std::vector<Fault> faults = {
      {"before it came", [](Checker& c, Room&) { c.OnStart(1, {0}, 4000, 14'000); }},
      {"in the past",
       [](Checker& c, Room&) {
         c.OnStart(1, {0}, 6000, 16'000);
         c.OnStart(0, {2, 3}, 5500, 15'500);
       }},
      {"less time than it needs", [](Checker& c, Room&) { c.OnStart(1, {0}, 5000, 14'999); }},
      {"starts twice",
       [](Checker& c, Room&) {
         c.OnStart(1, {0}, 5000, 15'000);
         c.OnStart(1, {1}, 5000, 15'000);
       }},
      {"starts twice",
       [](Checker& c, Room&) {
         c.OnStart(1, {0}, 5000, 15'000);
         c.OnEnd(1, 15'000);
         c.OnStart(1, {0}, 15'000, 25'000);
       }},
      {"with 1 of 2 pods", [](Checker& c, Room&) { c.OnStart(0, {0}, 5000, 15'000); }},
      {"with 3 of 2 pods",
       [](Checker& c, Room&) {
         c.OnStart(0, {0, 1, 1}, 5000, 15'000);
       }},
      {"with 0 of 1 pods", [](Checker& c, Room&) { c.OnStart(1, {}, 5000, 15'000); }},
      {"does not exist", [](Checker& c, Room&) { c.OnStart(1, {4}, 5000, 15'000); }},
      {"has 12 of 8 GPUs",
       [](Checker& c, Room&) {
         c.OnStart(0, {0, 1}, 5000, 15'000);
         c.OnStart(1, {1}, 5000, 15'000);
       }},
      {"has 16 of 8 GPUs",
       [](Checker& c, Room&) {
         c.OnStart(0, {0, 0}, 5000, 15'000);
       }},
      {"above its highest tier",
       [](Checker& c, Room&) {
         c.OnStart(0, {1, 2}, 5000, 15'000);
       }},
      {"ends and does not run", [](Checker& c, Room&) { c.OnEnd(1, 15'000); }},
      {"wrong time",
       [](Checker& c, Room&) {
         c.OnStart(1, {0}, 5000, 15'000);
         c.OnEnd(1, 15'001);
       }},
      {"ends and does not run",
       [](Checker& c, Room&) {
         c.OnStart(1, {0}, 5000, 15'000);
         c.OnEnd(1, 15'000);
         c.OnEnd(1, 15'000);
       }},
      {"ended 0 times",
       [](Checker& c, Room&) {
         c.OnStart(1, {0}, 5000, 15'000);
         c.OnEnd(1, 15'000);
         c.OnFinish();
       }},
      {"the sums say 8",  // the room was not taken
       [](Checker& c, Room& room) {
         c.OnStart(1, {0}, 5000, 15'000);
         c.OnMoment(room, 5000);
       }},
      {"the sums say 4",  // the room was not given back
       [](Checker& c, Room& room) {
         room.Take(0, {.gpus = 4});
         c.OnMoment(room, 5000);
       }},
      {"the sums say 6",  // another amount
       [](Checker& c, Room& room) {
         c.OnStart(1, {0}, 5000, 15'000);
         room.Take(0, {.gpus = 2});
         c.OnMoment(room, 5000);
       }},
      {"after its end",
       [](Checker& c, Room& room) {
         c.OnStart(1, {0}, 5000, 15'000);
         room.Take(0, {.gpus = 4});
         c.OnMoment(room, 15'001);
       }},
      {"GPUs are free",
       [](Checker& c, Room& room) {
         room.Take(3, {.gpus = 8});
         c.OnMoment(room, 0);
       }},
  };
  return faults;
}

TEST(Checker, CatchesEveryPlantedFault) {
  ASSERT_GE(Faults().size(), 20U);
  for (const Fault& fault : Faults()) {
    Planted planted;
    Checker checker(planted.workload, planted.fabric);
    fault.plant(checker, planted.room);
    EXPECT_THAT(checker.faults(), ::testing::Contains(HasSubstr(fault.said)));
  }
}

}  // namespace
}  // namespace strata::replay
