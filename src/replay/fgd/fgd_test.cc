#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "replay/fgd/fill_report.h"
#include "replay/test_workload.h"

namespace strata::replay::fgd {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Nodes of `gpus` GPUs of a model and `cpu` cores each.
struct Nodes {
  int count;
  int gpus;
  int cpu;
  std::string model = "T4";
};
Fabric FabricOf(const std::vector<Nodes>& groups) {
  Fabric fabric;
  for (const Nodes& group : groups) {
    for (int i = 0; i < group.count; ++i) {
      fabric.nodes.push_back({.name = "node-" + std::to_string(fabric.nodes.size()),
                              .gpus = group.gpus,
                              .cpu_milli = group.cpu * 1000,
                              .memory = 0,
                              .gpu_model = group.model});
    }
  }
  return fabric;
}

// A pod of `gpus` GPUs with `milli` of each, and `cpu` cores.
TraceJob Pod(
    const std::string& name, int gpus, int milli, int cpu, const std::string& models = "") {
  TraceJob job = TestJob(name, 0, 1, 1, gpus);
  job.gpu_milli = milli;
  job.cpu_milli = cpu * 1000;
  job.gpu_model = models;
  return job;
}

PodList ListOf(const std::vector<TraceJob>& jobs, const Fabric& fabric) {
  Trace trace;
  trace.jobs = jobs;
  auto list = MakePodList("test", trace, fabric);
  CHECK(list.has_value());
  return std::move(*list);
}

// Shares, whole GPUs, pairs and CPU pods in the proportions of a real list, more or less.
PodList MixedList(const Fabric& fabric, int pods, std::uint64_t seed) {
  Random random(seed);
  std::vector<TraceJob> jobs;
  for (int i = 0; i < pods; ++i) {
    const std::string name = "pod-" + std::to_string(10'000 + i);
    const auto draw = [&](std::uint64_t bound) { return static_cast<int>(random.Below(bound)); };
    const int cpu = 2 + 2 * draw(4);
    const int choice = draw(10);
    if (choice == 0) jobs.push_back(Pod(name, 0, 1000, cpu));
    if (choice >= 1 && choice <= 5) jobs.push_back(Pod(name, 1, 100 * (1 + draw(9)), cpu));
    if (choice >= 6 && choice <= 8)
      jobs.push_back(Pod(name, 1, 1000, cpu, draw(3) == 0 ? "T4" : ""));
    if (choice == 9) jobs.push_back(Pod(name, 2 << draw(3), 1000, cpu * 4));
  }
  return ListOf(jobs, fabric);
}

Machine OneMachine(const Fabric& fabric, const PodList& list, std::vector<std::int32_t> idle) {
  Machine machine = EmptyMachines(fabric, list).front();
  machine.idle = std::move(idle);
  machine.idle_sum = 0;
  for (const std::int32_t here : machine.idle) machine.idle_sum += here;
  return machine;
}

TEST(PodList, IsInOrderOfNamesAndKnowsItsTypicalKinds) {
  const Fabric fabric = FabricOf({{1, 2, 64}});
  std::vector<TraceJob> jobs;
  for (int i = 0; i < 19; ++i) jobs.push_back(Pod("b" + std::to_string(i), 1, 500, 4));
  jobs.push_back(Pod("a", 2, 1000, 8));
  const PodList list = ListOf(jobs, fabric);
  ASSERT_EQ(list.kinds.size(), 2U);
  EXPECT_EQ(list.kinds[list.pods[0]].gpus, 2);
  // 19 of 20 pods are 95 %.
  ASSERT_EQ(list.typical.size(), 1U);
  EXPECT_EQ(list.typical[0].kind.milli, 500);
  EXPECT_EQ(list.typical_weight, 19);
}

TEST(PodList, TakesNoGangs) {
  const Fabric fabric = FabricOf({{1, 2, 64}});
  Trace trace;
  trace.jobs = {TestJob("a", 0, 1, 2, 1)};
  EXPECT_EQ(MakePodList("test", trace, fabric).error().message,
            "job \"a\": 2 pods: this study places single pods, not gangs");
  trace.jobs = {TestJob("a", 0, 1, 1, 65)};
  EXPECT_EQ(MakePodList("test", trace, fabric).error().message,
            "job \"a\": 65 GPUs: want at most 64");
}

TEST(Arrivals, StopBeforeTheTargetAndAreAFunctionOfTheSeed) {
  const Fabric fabric = FabricOf({{10, 8, 96}});
  const PodList list = MixedList(fabric, 60, 1);
  const auto asked = [&](const std::vector<std::uint32_t>& pods) {
    std::int64_t sum = 0;
    for (const std::uint32_t pod : pods) sum += list.kinds[pod].TotalMilli();
    return sum;
  };
  const auto pods = Arrivals(list, 80'000, 1.3, 42);
  EXPECT_GT(pods.size(), list.pods.size());
  // The last one may pass the target by what it wants of its other GPUs.
  EXPECT_GT(asked(pods), 80'000);
  EXPECT_LE(asked(pods), 104'000 + 7000);
  EXPECT_EQ(pods, Arrivals(list, 80'000, 1.3, 42));
  EXPECT_NE(pods, Arrivals(list, 80'000, 1.3, 43));
  const auto fewer = Arrivals(list, 8000, 1.3, 42);
  EXPECT_LT(fewer.size(), list.pods.size());
  EXPECT_LE(asked(fewer), 10'400);
}

// Two GPUs, one of them half in use. A pod for 8 cores of which there are 6 can use nothing.
TEST(WeightedFragmentation, CountsWhatTypicalPodsCannotUse) {
  const Fabric fabric = FabricOf({{1, 2, 6}, {1, 2, 6, "A10"}});
  const auto of = [&](const TraceJob& job) {
    const PodList list = ListOf({job}, fabric);
    return WeightedFragmentation(OneMachine(fabric, list, {500, 1000}), list);
  };
  EXPECT_EQ(of(Pod("share", 1, 400, 1)), 0);
  EXPECT_EQ(of(Pod("larger share", 1, 600, 1)), 500);
  EXPECT_EQ(of(Pod("whole", 1, 1000, 1)), 500);
  EXPECT_EQ(of(Pod("pair", 2, 1000, 1)), 1500);
  EXPECT_EQ(of(Pod("no GPU", 0, 1000, 1)), 1500);
  EXPECT_EQ(of(Pod("cores", 1, 400, 8)), 1500);
  EXPECT_EQ(of(Pod("model", 1, 400, 1, "A10")), 1500);
  EXPECT_EQ(of(Pod("models", 1, 400, 1, "A10|T4")), 0);
}

// By hand, on a node of 128 cores and 8 GPUs.
TEST(Score, IsThatOfTheStudy) {
  const Fabric fabric = FabricOf({{1, 8, 128}});
  const PodList list =
      ListOf({Pod("a", 1, 1000, 8), Pod("b", 1, 500, 8), Pod("c", 0, 1000, 8)}, fabric);
  const PodKind& whole = list.kinds[list.pods[0]];
  const PodKind& share = list.kinds[list.pods[1]];
  const PodKind& cpu = list.kinds[list.pods[2]];
  const Machine empty = OneMachine(fabric, list, std::vector<std::int32_t>(8, 1000));
  Machine used = OneMachine(fabric, list, {400, 700, 0, 0, 0, 0, 0, 1000});
  used.holds = {0};
  const auto score = [&](Rule rule, const PodKind& kind, const Machine& machine) {
    return Score(rule, kind, machine, list).score;
  };
  // 100 (1 - 120/256 - 7/16), 100 (1 - (1 x 8/128 + 1 x 1/8) / 2)
  EXPECT_EQ(score(Rule::kBestFit, whole, empty), 9);
  EXPECT_EQ(score(Rule::kDotProduct, whole, empty), 90);
  EXPECT_EQ(score(Rule::kPacking, whole, empty), 25);
  EXPECT_EQ(score(Rule::kPacking, whole, used), 49);
  EXPECT_EQ(score(Rule::kPacking, share, used), 93);
  EXPECT_EQ(Score(Rule::kPacking, share, used, list).gpu, 1);
  EXPECT_EQ(score(Rule::kPacking, cpu, used), 0);
  EXPECT_EQ(score(Rule::kClustering, share, used), 75 + 18);  // 25 x 5900 / 8000 = 18.4
  EXPECT_EQ(score(Rule::kClustering, whole, used), 18);
  EXPECT_EQ(score(Rule::kClustering, whole, empty), 25);
  used.holds = {0, 1};
  EXPECT_EQ(score(Rule::kClustering, whole, used), 50 + 18);
  EXPECT_EQ(score(Rule::kRandom, share, used), 0);
  const Machine full = OneMachine(fabric, list, std::vector<std::int32_t>(8, 0));
  EXPECT_EQ(score(Rule::kFgd, share, full), Choice::kDoesNotFit);
  EXPECT_EQ(score(Rule::kFgd, cpu, full), 50);  // nothing is gained or lost
}

// 600 of a GPU are of no use to pods that want 700; the share that fits there leaves whole GPUs.
TEST(Score, OfFgdTakesWhatIsFragmentedAlready) {
  const Fabric fabric = FabricOf({{1, 2, 64}});
  std::vector<TraceJob> jobs = {Pod("share", 1, 500, 1)};
  for (int i = 0; i < 19; ++i) jobs.push_back(Pod("b" + std::to_string(i), 1, 700, 1));
  const PodList list = ListOf(jobs, fabric);
  const PodKind& share = list.kinds[list.pods.back()];
  ASSERT_EQ(share.milli, 500);
  const Machine machine = OneMachine(fabric, list, {1000, 600});
  const Choice choice = Score(Rule::kFgd, share, machine, list);
  EXPECT_EQ(choice.gpu, 1);
  EXPECT_EQ(choice.score, 62);  // 100 / (1 + exp(-0.5))
}

TEST(Fill, AgreesWithARecountForEveryRule) {
  const Fabric fabric = FabricOf({{4, 2, 16}, {6, 8, 48, "A100"}, {3, 4, 32}});
  const PodList list = MixedList(fabric, 120, 5);
  for (const RuleInfo& rule : KnownRules()) {
    const FillResult result = Fill(list, fabric, rule.rule, {.seed = 7, .check = true});
    EXPECT_THAT(result.faults, IsEmpty()) << rule.name;
    EXPECT_GT(result.dropped, 0) << rule.name;
    const FillPoint& last = result.points.back();
    EXPECT_GT(last.allocated, 0.5) << rule.name;
    EXPECT_LE(last.allocated + last.fragmented, 1 + 1e-9) << rule.name;
  }
}

double AllocatedBy(Rule rule, const PodList& list, const Fabric& fabric) {
  constexpr int kSeeds = 10;
  double sum = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    sum += Fill(list, fabric, rule, {.seed = seed}).points[130].allocated / kSeeds;
  }
  return sum;
}

// What the study is about, on a list that is not the authors'.
TEST(Fill, OfFgdAllocatesMoreThanBestFitAndThatMoreThanRandom) {
  const Fabric fabric = FabricOf({{40, 2, 104}, {60, 8, 96, "A100"}});
  const PodList list = MixedList(fabric, 700, 3);
  const double fgd = AllocatedBy(Rule::kFgd, list, fabric);
  const double best_fit = AllocatedBy(Rule::kBestFit, list, fabric);
  const double random = AllocatedBy(Rule::kRandom, list, fabric);
  EXPECT_GT(fgd, best_fit);
  EXPECT_GT(best_fit, random);
}

TEST(Fill, GivesEqualScoresToTheFirstNodeOfAnOrderDrawnFromTheSeed) {
  const Fabric fabric = FabricOf({{50, 8, 96}});
  const PodList list = MixedList(fabric, 300, 3);
  const auto allocated = [&](std::uint64_t seed) {
    std::vector<double> values;
    for (const FillPoint& point : Fill(list, fabric, Rule::kFgd, {.seed = seed}).points) {
      values.push_back(point.fragmented);
    }
    return values;
  };
  EXPECT_EQ(allocated(1), allocated(1));
  EXPECT_NE(allocated(1), allocated(2));
}

TEST(FillReport, ShowsPublishedFiguresBesideOurs) {
  EXPECT_EQ(ListNameOf("data/openb_pod_list_gpushare100.csv.gz"), "gpushare100");
  EXPECT_EQ(ListNameOf("pods.csv"), "pods");
  const std::string text =
      "pod_list,policy,seeds,load_pct,alloc_pct_mean,alloc_pct_sd,frag_pct_of_capacity_mean\n"
      "default,FGD,10,130,95.39,0.08,4.57\n";
  FillReport report{.nodes = 2, .gpus = 16};
  const auto published = ReadPublished("p.csv", text);
  ASSERT_TRUE(published.has_value());
  report.published = *published;
  report.lists = {{.name = "default", .pods = 10, .kinds = 2, .typical = 1, .asked = 0.98}};
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    FillRun run{.rule = *ChooseRule("rule:fgd"), .seed = seed};
    run.result.points.resize(131);
    run.result.points[130] = {
        .arrivals = 3, .allocated = 0.95 + 0.01 * static_cast<double>(seed), .fragmented = 0.04};
    report.runs.push_back(run);
  }
  const std::vector<FillRow> rows = RowsOf(report);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NEAR(rows[0].allocated, 96.5, 1e-9);
  EXPECT_NEAR(rows[0].deviation, 0.7071, 1e-4);
  const std::string table = RenderFillTable(report, {.colour = false, .width = 1000});
  EXPECT_THAT(table, HasSubstr("List default: rule:fgd allocated 96.50 % of all GPUs."));
  EXPECT_THAT(table, HasSubstr("At most 1.11 points from what the authors published"));
  EXPECT_THAT(table, HasSubstr("95.39 %"));
  EXPECT_THAT(RenderFillJson(report), HasSubstr("\"asked_percent\": 130"));
  EXPECT_THAT(ReadPublished("p.csv", "a,b\n1,2\n").error().message,
              HasSubstr("p.csv:1:1: column pod_list: missing from the header"));
}

TEST(ChooseRule, NamesTheKnownOnes) {
  EXPECT_THAT(ChooseRule("rule:magic").error().message,
              HasSubstr("unknown policy \"rule:magic\"; known are rule:random, rule:dot-product"));
}

}  // namespace
}  // namespace strata::replay::fgd
