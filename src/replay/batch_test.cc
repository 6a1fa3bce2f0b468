#include "replay/batch.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "replay/figures.h"
#include "replay/generate.h"
#include "replay/lab_report.h"
#include "replay/run_files.h"
#include "replay/test_workload.h"

namespace strata::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct SmallLab {
  Fabric fabric = MakeFabric(2, 2, 4, 8);
  Trace trace;
  Workload workload;
  std::vector<BatchRun> runs;
  LabReport report;

  SmallLab() {
    const auto spec =
        ParseGenerateTraceSpec("jobs=400,rate=0.05,duration=600,sizes=1:6+4:2+8:2+16:1+32:1");
    trace = GenerateTrace(*spec, 5);
    workload = TestWorkload(trace.jobs, fabric);
    for (const char* name : {"strata", "rule:lowest-switch", "rule:binpack", "rule:random"}) {
      for (std::uint64_t seed = 1; seed <= (name == std::string("rule:random") ? 3U : 1U); ++seed) {
        runs.push_back({*ChoosePolicy(name), seed});
      }
    }
    report.input.version = "test";
    report.input.traces = {"made <up>"};
    report.input.tiers = {"1 (rack): 4 domains", "2 (spine): 2 domains"};
  }

  Status Run(unsigned threads) {
    report.runs.clear();
    for (const BatchRun& run : runs) {
      report.runs.push_back({.policy = run.policy.info.name,
                             .stands_for = run.policy.info.stands_for,
                             .seed = run.seed,
                             .random = run.policy.info.random});
    }
    BatchOptions options{.threads = threads};
    options.engine.check = true;
    options.on_result = [&](std::size_t run, const EngineResult& result) {
      report.runs[run].figures = MakeFigures(workload, fabric, result);
      report.runs[run].faults = result.faults;
    };
    return RunBatch(workload, fabric, runs, options);
  }
};

TEST(RunInParallel, CallsEachNumberOnceAndBeginsNoneAfterOneSaidNo) {
  std::vector<std::atomic<int>> calls(100);
  RunInParallel(calls.size(), 4, [&](std::size_t i) {
    ++calls[i];
    return true;
  });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
  std::vector<std::size_t> begun;
  RunInParallel(5, 1, [&](std::size_t i) {
    begun.push_back(i);
    return i < 2;
  });
  EXPECT_EQ(begun, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(RunBatch, GivesTheSameBytesWhateverTheNumberOfThreads) {
  SmallLab lab;
  ASSERT_TRUE(lab.Run(1));
  const std::string one = RenderLabJson(lab.report);
  ASSERT_TRUE(lab.Run(4));
  EXPECT_EQ(RenderLabJson(lab.report), one);
  EXPECT_THAT(one, Not(HasSubstr("fault:")));
  EXPECT_EQ(lab.report.runs[0].figures.finished, 400);
}

// Lines of a trace may be in any order.
TEST(RunBatch, GivesTheSameBytesWhateverTheOrderOfLines) {
  SmallLab lab;
  ASSERT_TRUE(lab.Run(2));
  const std::string one = RenderLabJson(lab.report);
  std::vector<std::string> lines;
  std::istringstream text(WriteTrace(lab.trace));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  const std::size_t head = lab.trace.provenance.size() + 1;
  std::vector<std::string> rows(lines.begin() + static_cast<std::ptrdiff_t>(head), lines.end());
  Random(9).Shuffle(rows);
  std::string shuffled;
  for (std::size_t i = 0; i < head; ++i) shuffled += lines[i] + "\n";
  for (const std::string& row : rows) shuffled += row + "\n";
  const std::array<TraceText, 1> files = {TraceText{.path = "t", .text = shuffled}};
  const auto trace = ReadTrace(files, {});
  ASSERT_TRUE(trace.has_value());
  lab.workload = TestWorkload(trace->jobs, lab.fabric);
  ASSERT_TRUE(lab.Run(2));
  EXPECT_EQ(RenderLabJson(lab.report), one);
}

TEST(RunBatch, StopsWhenItIsTold) {
  SmallLab lab;
  BatchOptions options{.threads = 2};
  std::size_t results = 0;
  options.on_progress = [](std::size_t) { return false; };
  options.on_result = [&](std::size_t, const EngineResult&) { ++results; };
  ASSERT_TRUE(RunBatch(lab.workload, lab.fabric, lab.runs, options));
  EXPECT_LT(results, lab.runs.size());
}

TEST(LabReport, IsReadAgainFromItsJson) {
  SmallLab lab;
  ASSERT_TRUE(lab.Run(2));
  const std::string text = RenderLabJson(lab.report);
  EXPECT_THAT(text, HasSubstr("made <up>"));
  EXPECT_THAT(text, HasSubstr("\"policy\": \"rule:lowest-switch\""));
  const auto again = ParseLabJson(text);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(RenderLabJson(*again), text);
  EXPECT_FALSE(ParseLabJson("{}").has_value());
  EXPECT_FALSE(ParseLabJson("not json").has_value());
}

TEST(LabReport, TablesAndPagesBeginWithWhichPolicyWasBetter) {
  SmallLab lab;
  ASSERT_TRUE(lab.Run(2));
  const std::string verdict = Verdict(RowsOf(lab.report));
  EXPECT_THAT(verdict, HasSubstr(" was better than "));
  const std::string table = RenderLabTable(lab.report, {.colour = false, .width = 1000});
  EXPECT_THAT(table, ::testing::StartsWith(verdict));
  EXPECT_THAT(table, HasSubstr("rule:random: a rule: any node that fits"));
  const std::string page = RenderLabPage(lab.report);
  EXPECT_THAT(page, HasSubstr("<h1>" + verdict + "</h1>"));
  EXPECT_THAT(page, HasSubstr("made &lt;up&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("http")));  // it loads nothing
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST(Interval95, IsThatOfStudent) {
  EXPECT_EQ(Interval95({5}), 0);
  EXPECT_NEAR(Interval95({1, 3}), 12.706, 0.001);
  EXPECT_NEAR(Interval95({2, 2, 2}), 0, 1e-12);
}

TEST(SpreadOf, TakesPercentilesFromTheValuesThemselves) {
  const Spread spread = SpreadOf({4000, 1000, 2000, 3000});
  EXPECT_EQ(spread.mean_s, 2.5);
  EXPECT_EQ(spread.p50_s, 2);
  EXPECT_EQ(spread.p95_s, 4);
  EXPECT_EQ(spread.max_s, 4);
}

TEST(RunFiles, AreTakenUpAgainForTheSameInputOnly) {
  SmallLab lab;
  BatchOptions options;
  options.engine.keep_places = true;
  const std::string folder = ::testing::TempDir() + "/replay_run_files";
  std::filesystem::remove_all(folder);
  LabRun run{.policy = "strata", .stands_for = "us", .seed = 1};
  options.on_result = [&](std::size_t, const EngineResult& result) {
    run.figures = MakeFigures(lab.workload, lab.fabric, result);
    ASSERT_TRUE(WriteRun(folder + "/strata-1",
                         {.input = &lab.report.input,
                          .run = &run,
                          .trace = &lab.trace,
                          .workload = &lab.workload,
                          .fabric = &lab.fabric,
                          .result = &result}));
  };
  lab.runs.resize(1);
  ASSERT_TRUE(RunBatch(lab.workload, lab.fabric, lab.runs, options));
  LabRun kept{.policy = "strata", .stands_for = "us", .seed = 1};
  EXPECT_TRUE(ReadRun(folder + "/strata-1", lab.report.input, kept));
  EXPECT_EQ(kept.figures.finished, 400);
  LabInput other = lab.report.input;
  other.queue = "skip";
  EXPECT_FALSE(ReadRun(folder + "/strata-1", other, kept));
  kept.seed = 2;
  EXPECT_FALSE(ReadRun(folder + "/strata-1", lab.report.input, kept));
  const auto all = ReadRuns({folder});
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->runs.size(), 1U);
  EXPECT_THAT(ReadRuns({folder + "/nothing"}).error().message, HasSubstr("no schedule.json"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace strata::replay
