#include "explain/explain.h"

#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/render_explain.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

RunResult OneJob(RunResult::Job job) {
  RunResult result;
  result.jobs["ns/pg"] = std::move(job);
  return result;
}

RunResult::Job Running() {
  RunResult::Job job;
  job.phase = "Running";
  return job;
}

RunResult::Job Waiting() {
  RunResult::Job job;
  job.phase = "Inqueue";
  job.reason = "Full";
  job.message = "no room";
  return job;
}

std::vector<std::string> LinesOf(const RunResult::Job& job, const TraceLog& trace) {
  return ExplainLines(TellStory(OneJob(job), trace, "ns/pg"));
}

TEST(TellStory, BeginsWithTheVerdict) {
  EXPECT_THAT(LinesOf(Waiting(), {}), ElementsAre("ns/pg waits (Full): no room"));
  RunResult::Job placed = Running();
  placed.allocated_hypernode = "s4";
  placed.tier = 2;
  EXPECT_THAT(LinesOf(placed, {}),
              ElementsAre("ns/pg is Running in s4 (tier 2). It was placed earlier."));
}

TEST(TellStory, TellsTheLastCycleThatLookedAtTheJob) {
  TraceLog trace;
  trace.BeginCycle(1);
  trace.Record(StepRecord{StepRecord::Kind::kAllocate, "ns/pg", "ns/old", "n9", ""});
  trace.BeginCycle(2);
  trace.Record(GradientRecord{
      "ns/pg", "", "top", {{1, {}, {{"s0", "small"}, {"s1", "small"}}}, {2, {"s4", "s5"}, {}}}});
  HyperNodeScoreRecord score;
  score.job = "ns/pg";
  score.total = {{"s4", ToScore(40)}, {"s5", ToScore(50)}};
  score.failed = {"s5"};
  score.chosen = "s4";
  trace.Record(score);
  trace.Record(StepRecord{StepRecord::Kind::kAllocate, "ns/pg", "ns/p", "n0", ""});
  trace.Record(StepRecord{StepRecord::Kind::kAllocate, "ns/other", "ns/q", "n0", ""});
  EXPECT_THAT(LinesOf(Running(), trace),
              ElementsAre("ns/pg would run on the nodes below.",
                          "  the search began at top",
                          "    tier 1: ruled out: s0, s1: small",
                          "    tier 2: open: s4, s5",
                          "    tier 2: tried, but the gang did not fit: s5",
                          "    tier 2: chosen: s4 with score 40.000; the others: s5 50.000",
                          "  ns/p on n0"));
}

TEST(TellStory, IgnoresDiscardedPlacements) {
  TraceLog trace;
  trace.BeginCycle(1);
  trace.Record(StepRecord{StepRecord::Kind::kAllocate, "ns/pg", "ns/p", "n0", ""});
  trace.Record(StepRecord{StepRecord::Kind::kDiscard, "ns/pg", "", "", "s0"});
  trace.Record(StepRecord{StepRecord::Kind::kPipeline, "ns/pg", "ns/p", "n1", ""});
  EXPECT_THAT(TellStory(OneJob(Waiting()), trace, "ns/pg").pods,
              ElementsAre(testing::FieldsAre(
                  "ns/p", "n1", true, testing::_, IsEmpty(), testing::Eq(std::nullopt))));
}

TEST(TellStory, CountsTheLinksOfManyGpusByKind) {
  TraceLog trace;
  trace.BeginCycle(1);
  StepRecord step{StepRecord::Kind::kAllocate, "ns/pg", "ns/p", "n0", ""};
  DeviceRecord::Container five{.name = "main", .uuids = {}, .links = {}, .score = 1, .best = 1};
  for (int i = 0; i < 5; ++i) {
    five.uuids.push_back("GPU-" + std::to_string(i));
    for (int j = i + 1; j < 5; ++j) {
      five.links.push_back(fmt::format("{}-{} {}", i, j, i == 0 && j == 4 ? "SYS" : "NV18+NODE"));
    }
  }
  step.devices = DeviceRecord{{five}};
  trace.Record(step);
  EXPECT_THAT(LinesOf(Running(), trace),
              Contains(HasSubstr(": 9 pairs NV18+NODE, 1 pair SYS; pair score 1")));
}

TEST(TellStory, TellsTheGpusOfAPodAndWhetherTheyAreProvenBest) {
  TraceLog trace;
  trace.BeginCycle(1);
  StepRecord step{StepRecord::Kind::kAllocate, "ns/pg", "ns/p", "n0", ""};
  step.devices = DeviceRecord{{{.name = "main",
                                .uuids = {"GPU-a", "GPU-b"},
                                .links = {"0-1 NV2+PIX"},
                                .score = 250,
                                .best = 260},
                               {.name = "side", .uuids = {"GPU-c"}, .links = {}}}};
  trace.Record(step);
  EXPECT_THAT(
      LinesOf(Running(), trace),
      ElementsAre("ns/pg would run on the nodes below.",
                  "  ns/p on n0",
                  "    main: GPU-a, GPU-b: 0-1 NV2+PIX; pair score 250, the best possible 260",
                  "    side: GPU-c"));
  step.devices->containers[0].proven = false;
  trace.BeginCycle(2);
  trace.Record(step);
  EXPECT_THAT(
      LinesOf(Running(), trace),
      Contains("    main: GPU-a, GPU-b: 0-1 NV2+PIX; pair score 250, the best found 260; not "
               "proven best: the search for better sets was cut off"));
  EXPECT_THAT(RenderJson(TellStory(OneJob(Running()), trace, "ns/pg")),
              HasSubstr("\"proven\": false"));
}

TEST(TellStory, ShowsOnlyTheSearchBelowTheChosenDomainForASubGroup) {
  TraceLog trace;
  trace.BeginCycle(1);
  trace.Record(GradientRecord{"ns/pg", "", "top", {{2, {"s4", "s5"}, {}}}});
  trace.Record(GradientRecord{"ns/pg", "part-0", "s4", {{1, {"s0"}, {}}}});
  trace.Record(GradientRecord{"ns/pg", "part-0", "s5", {{1, {"s2"}, {}}}});
  HyperNodeScoreRecord score;
  score.job = "ns/pg";
  score.total = {{"s4", ToScore(40)}, {"s5", ToScore(50)}};
  score.chosen = "s5";
  trace.Record(score);
  const Explanation story = TellStory(OneJob(Running()), trace, "ns/pg");
  ASSERT_EQ(story.searches.size(), 2U);
  EXPECT_EQ(story.searches[1].sub_job, "part-0");
  EXPECT_EQ(story.searches[1].root, "s5");
}

TEST(TellStory, ManyNamesAreCutShort) {
  TraceLog trace;
  GradientRecord record{"ns/pg", "", "top", {{1, {}, {}}}};
  for (char c = 'a'; c <= 'i'; ++c) record.tiers[0].eligible.emplace_back(1, c);
  trace.Record(record);
  EXPECT_THAT(LinesOf(Running(), trace).back(),
              StartsWith("    tier 1: open: a, b, c, d, e, f and 3 more"));
}

class ExplainJobTest : public testing::Test {
 protected:
  Explanation Explain(const std::string& manifests, const std::string& job) {
    completed_ = CompleteObjects(objects::MustLoad(manifests)).value();
    auto explanation = ExplainJob({.objects = &completed_,
                                   .config = &config_,
                                   .options = {},
                                   .job = job,
                                   .progress = [this](const std::string&) { ++solved_; },
                                   .kept = kept_});
    EXPECT_TRUE(explanation.has_value()) << explanation.error().message;
    return explanation ? *explanation : Explanation{};
  }

  SchedulerConfig config_ = DefaultSchedulerConfig();
  CompletedObjects completed_;
  KeptRelaxations* kept_ = nullptr;
  int solved_ = 0;
};

TEST_F(ExplainJobTest, NamesTheHoldersOfTheShortResource) {
  //   one pod to a node, seven of eight nodes taken; the gang needs two below one leaf
  const Explanation story =
      Explain(EightNodes("cpu: 3") + GangOf("a-first", 7, "cpu: 2", "mode: soft") +
                  GangOf("gang", 2, "cpu: 2", "mode: hard, highestTierAllowed: 1"),
              "default/gang-gang");
  ASSERT_THAT(story.misses, testing::SizeIs(1));
  EXPECT_EQ(story.misses[0].record.fits, 1U);
  ASSERT_THAT(story.misses[0].holders, testing::SizeIs(1));
  EXPECT_EQ(story.misses[0].holders[0],
            (Holder{Holder::Kind::kJob, "default/a-first-a-first", 1, {{"cpu", 2000}}}));
  ASSERT_TRUE(story.relaxations.has_value());
  EXPECT_THAT(ExplainLines(story), Contains("    without job default/a-first (7 pods)"));
}

TEST_F(ExplainJobTest, AJobThatRunsHasTheScoresOfTheAlternativesAndNoRelaxations) {
  const Explanation story = Explain(
      EightNodes("cpu: 1") + GangOf("gang", 2, "cpu: 1", "mode: hard, highestTierAllowed: 1"),
      "default/gang-gang");
  EXPECT_FALSE(story.relaxations.has_value());
  EXPECT_EQ(story.outcome.allocated_hypernode, "s0");
  ASSERT_FALSE(story.searches.empty());
  EXPECT_EQ(story.searches[0].tiers[0].chosen, "s0");
  EXPECT_THAT(story.searches[0].tiers[0].scores, testing::SizeIs(4));
  EXPECT_THAT(story.pods, testing::SizeIs(2));
}

TEST(ExplainPlacedAgain, SaysWhereARunningJobWouldGoNow) {
  const CompletedObjects objects =
      CompleteObjects(
          objects::MustLoad(
              EightNodes("cpu: 1") +
              "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
              "metadata: {name: pg}\nspec: {minMember: 1, networkTopology: {mode: hard, "
              "highestTierAllowed: 1}}\nstatus: {phase: Running}\n---\n"
              "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: "
              "{scheduling.k8s.io/group-name: pg}}\nspec: {schedulerName: volcano, "
              "nodeName: node7, containers: [{name: c, image: i, resources: {requests: "
              "{cpu: 1}}}]}\nstatus: {phase: Running}\n"))
          .value();
  const SchedulerConfig config = DefaultSchedulerConfig();
  ExplainQuery query;
  query.objects = &objects;
  query.config = &config;
  query.job = "default/pg";
  const Explanation story = ExplainJob(query).value();
  EXPECT_TRUE(WasPlacedEarlier(story));
  EXPECT_EQ(FirstSentence(story), "default/pg is Running in s3 (tier 1). It was placed earlier.");
  const Explanation again = ExplainPlacedAgain(query).value();
  EXPECT_FALSE(WasPlacedEarlier(again));
  const std::vector<std::string> lines = PlacedAgainLines(again);
  EXPECT_EQ(lines.front(), "If it were placed again now, it would go to s0 (tier 1):");
  EXPECT_THAT(lines, Contains(HasSubstr("default/p on node0")));
}

// Explains the Job "t" of two pods in a running cluster that has these objects.
Explanation ExplainLive(const std::string& manifests) {
  objects::ObjectSet objects = objects::MustLoad(EightNodes("cpu: 1") + manifests);
  const objects::MakesPods makes = MakesUpPods(objects, "default/t");
  const CompletedObjects completed = CompleteObjects(std::move(objects), IsOurs, makes).value();
  const LoadedCluster cluster = LoadCompleted(completed).value();
  const SchedulerConfig config = DefaultSchedulerConfig();
  ExplainQuery query;
  query.objects = &completed;
  query.config = &config;
  query.source = ExplainQuery::Source::kRunningCluster;
  const Subject subject = FindSubject(completed, "default/t").value();
  return ExplainSubject(query, subject, *cluster.state).value();
}

std::string TwoPods() {
  return GangOf("t", 2, "cpu: 1", "mode: hard, highestTierAllowed: 1");
}

std::string GroupOfTwo(const std::string& phase) {
  return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: t-t}\nspec: "
         "{minMember: 2, networkTopology: {mode: hard, highestTierAllowed: 1}}\nstatus: {phase: " +
         phase + "}\n---\n";
}

std::string PodOfTwo(int index, const std::string& node) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: t-w-" + std::to_string(index) +
         ", annotations: {scheduling.k8s.io/group-name: t-t}}\nspec: {schedulerName: volcano, " +
         (node.empty() ? "" : "nodeName: " + node + ", ") +
         "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\n---\n";
}

TEST(ExplainRunningCluster, SaysThatPodsDoNotExistYetBeforeAdmission) {
  const Explanation story = ExplainLive(TwoPods());
  EXPECT_EQ(FirstSentence(story),
            "default/t is Pending: its 2 pods do not exist yet; there is room for it in s0 (tier "
            "1).");
  EXPECT_FALSE(WasPlacedEarlier(story));
  EXPECT_THAT(RenderJson(story), HasSubstr("\"phase\": \"Pending\""));
}

TEST(ExplainRunningCluster, InventsNoPodsOfAnAdmittedJob) {
  EXPECT_EQ(FirstSentence(ExplainLive(TwoPods() + GroupOfTwo("Inqueue"))),
            "default/t waits (NotEnoughTasks): 0 pods exist, minMember is 2");
}

TEST(ExplainRunningCluster, TellsWhatHasNoNodeApartFromWhereItWouldGo) {
  EXPECT_EQ(FirstSentence(
                ExplainLive(TwoPods() + GroupOfTwo("Inqueue") + PodOfTwo(0, "") + PodOfTwo(1, ""))),
            "default/t is Inqueue: its 2 pods have no node yet; the scheduler would place them in "
            "s0 (tier 1).");
  EXPECT_EQ(FirstSentence(ExplainLive(TwoPods() + GroupOfTwo("Running") + PodOfTwo(0, "node2") +
                                      PodOfTwo(1, ""))),
            "default/t is Running: 1 of its 2 pods has no node yet; the scheduler would place it "
            "in s1 (tier 1).");
}

TEST(ExplainRunningCluster, TellsOfAJobWithAllItsPodsWhereItRuns) {
  EXPECT_EQ(FirstSentence(ExplainLive(TwoPods() + GroupOfTwo("Running") + PodOfTwo(0, "node2") +
                                      PodOfTwo(1, "node3"))),
            "default/t is Running in s1 (tier 1). It was placed earlier.");
}

TEST_F(ExplainJobTest, SaysPlainlyThatNothingHelps) {
  const std::vector<std::string> lines = ExplainLines(
      Explain(EightNodes("cpu: 1") + GangOf("gang", 1, "cpu: 2", ""), "default/gang-gang"));
  EXPECT_THAT(lines.back(), StartsWith("  no single change would let it start (0 changes tried"));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("each of these alone"))));
}

TEST_F(ExplainJobTest, ReusesTheRelaxationsFoundForTheVerdict) {
  const std::string job = "default/gang-gang";
  const std::string manifests = EightNodes("cpu: 1") + GangOf("gang", 9, "cpu: 1", "");
  KeptRelaxations kept;
  kept_ = &kept;
  const RunResult::Job outcome = Simulate(manifests).result.jobs.at(job);
  kept.Follow({{job, {outcome.reason, outcome.message}}});
  const std::vector<std::string> first = ExplainLines(Explain(manifests, job));
  EXPECT_GT(std::exchange(solved_, 0), 0);
  EXPECT_THAT(kept.Due(), IsEmpty());
  EXPECT_EQ(ExplainLines(Explain(manifests, job)), first);
  EXPECT_EQ(solved_, 0);
  kept.Follow({{job, {outcome.reason, "something else"}}});
  EXPECT_EQ(ExplainLines(Explain(manifests, job)), first);
  EXPECT_GT(solved_, 0);
}

TEST_F(ExplainJobTest, AnInterruptedSearchSolvesNoMoreAndTellsNothing) {
  const std::string manifests = EightNodes("cpu: 1") + GangOf("gang", 9, "cpu: 1", "");
  const CompletedObjects completed = CompleteObjects(objects::MustLoad(manifests)).value();
  std::stop_source stop;
  KeptRelaxations kept;
  const auto story = ExplainJob({.objects = &completed,
                                 .config = &config_,
                                 .options = {},
                                 .job = "default/gang-gang",
                                 .progress =
                                     [&](const std::string&) {
                                       ++solved_;
                                       stop.request_stop();
                                     },
                                 .kept = &kept,
                                 .stop = stop.get_token()});
  ASSERT_FALSE(story.has_value());
  EXPECT_EQ(story.error().code, Code::kUnavailable);
  EXPECT_EQ(solved_, 1);
}

TEST_F(ExplainJobTest, AJobThatIsGoneIsNotFound) {
  const CompletedObjects completed =
      CompleteObjects(objects::MustLoad(EightNodes("cpu: 1"))).value();
  ExplainQuery query;
  query.objects = &completed;
  query.config = &config_;
  query.job = "default/gone";
  EXPECT_EQ(ExplainJob(query).error().code, Code::kNotFound);
}

TEST_F(ExplainJobTest, TheJsonHasEveryPart) {
  const std::string json = RenderJson(
      Explain(EightNodes("cpu: 1") + GangOf("gang", 9, "cpu: 1", ""), "default/gang-gang"));
  for (const char* key : {"job",
                          "sentence",
                          "phase",
                          "allocatedHyperNode",
                          "tier",
                          "reason",
                          "message",
                          "cycle",
                          "searches",
                          "nearestMisses",
                          "queueHeldBy",
                          "pods",
                          "relaxations",
                          "tried"}) {
    EXPECT_THAT(json, HasSubstr(std::string("\n  \"") + key + "\": "));
  }
  EXPECT_THAT(json, HasSubstr("\"kind\": \"fewerPods\""));
}

std::vector<std::string> ExplainFullCluster(const std::string& job) {
  const CompletedObjects completed = CompleteObjects(objects::MustLoad(FullCluster())).value();
  const SchedulerConfig config = WithGangPreempt();
  return ExplainLines(ExplainJob({.objects = &completed,
                                  .config = &config,
                                  .options = {},
                                  .job = job,
                                  .progress = nullptr})
                          .value());
}

TEST(ExplainJob, NamesThoseWhoWouldBeEvicted) {
  const std::vector<std::string> lines = ExplainFullCluster("default/high");
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(lines[0], "default/high would start once gangpreempt has evicted 1 gang, 1 pod.");
  EXPECT_EQ(lines[1], "  gangpreempt would evict 1 gang, 1 pod:");
  EXPECT_EQ(lines[2],
            "    gang default/low (queue default, priority 1): 1 pod on n0; may take 45s to stop");
}

TEST(ExplainJob, SaysOfARunningJobWhoWouldEvictIt) {
  EXPECT_THAT(
      ExplainFullCluster("default/low"),
      ElementsAre(
          "default/low runs, but gangpreempt would evict all of it, 1 pod, for default/high.",
          "  gang default/low (queue default, priority 1): 1 pod on n0; may take 45s to stop"));
}

}  // namespace
}  // namespace strata
