// What a user sees of the command line itself: exit status, one line on standard error, help.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/run_strata.h"

namespace strata::scenario {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string& Examples() {
  static const std::string path =
      (std::filesystem::path(STRATA_SCENARIOS) / "../../examples").lexically_normal().string();
  return path;
}

RunOutput Strata(const std::vector<std::string>& arguments) {
  return RunStrata(std::filesystem::temp_directory_path(), arguments);
}

struct UsageCase {
  std::string name;
  std::vector<std::string> arguments;
  std::string line;
};

class BadUsage : public testing::TestWithParam<UsageCase> {};

TEST_P(BadUsage, ExitsWithTwoAndNamesTheNextStep) {
  const RunOutput run = Strata(GetParam().arguments);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, GetParam().line + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Lines,
    BadUsage,
    testing::Values(
        UsageCase{"nothing", {}, "strata: want a command (see strata --help)"},
        UsageCase{
            "command",
            {"simulat"},
            "strata: unknown command \"simulat\", did you mean simulate? (see strata --help)"},
        UsageCase{"queue", {"queue"}, "strata queue: want a command (see strata queue --help)"},
        UsageCase{"queue_command",
                  {"queue", "lost"},
                  "strata queue: unknown command \"lost\", did you mean list? (see strata queue "
                  "--help)"},
        UsageCase{"flag",
                  {"simulate", "-f", ".", "--cycle", "3"},
                  "strata simulate: unknown flag \"--cycle\" (see strata simulate --help)"},
        UsageCase{"no_file",
                  {"simulate"},
                  "strata simulate: --filename is required (see strata simulate --help)"},
        UsageCase{"empty_file",
                  {"simulate", "-f", ""},
                  "strata simulate: --filename: want a path, found \"\" (see strata simulate "
                  "--help)"},
        UsageCase{"empty_trace",
                  {"simulate", "-f", ".", "--trace", ""},
                  "strata simulate: --trace: want a path, found \"\" (see strata simulate --help)"},
        UsageCase{"empty_conf",
                  {"topology", "-f", ".", "--scheduler-conf", ""},
                  "strata topology: --scheduler-conf: want a path, found \"\" (see strata topology "
                  "--help)"},
        UsageCase{"argument",
                  {"simulate", "-f", ".", "more"},
                  "strata simulate: unknown argument \"more\" (see strata simulate --help)"},
        UsageCase{
            "format",
            {"topology", "-f", ".", "-o", "yaml"},
            "strata topology: --output: unknown format \"yaml\" (want table|json) (see strata "
            "topology --help)"},
        UsageCase{"time",
                  {"simulate", "-f", ".", "--now", "noon"},
                  "strata simulate: --now: bad time \"noon\" (want RFC 3339, such as "
                  "2026-08-20T10:00:00Z) "
                  "(see strata simulate --help)"},
        UsageCase{
            "cycles",
            {"simulate", "-f", ".", "--cycles", "0"},
            "strata simulate: --cycles: Value 0 not in range 1 to 1000000 (see strata simulate "
            "--help)"},
        UsageCase{
            "shape",
            {"topology", "-f", ".", "--pod", "8"},
            "strata topology: --pod: \"8\": want NAME=AMOUNT, as in cpu=8,nvidia.com/gpu=8 (see "
            "strata topology --help)"},
        UsageCase{
            "shape_share",
            {"topology", "-f", ".", "--pod", "nvidia.com/gpu=500m"},
            "strata topology: --pod: nvidia.com/gpu 500m: want a whole number from 0 to 2147483647 "
            "(see strata topology --help)"},
        UsageCase{"shape_size",
                  {"topology", "-f", ".", "--pod", "cpu=9223372036854775807"},
                  "strata topology: --pod: cpu: 9223372036854775807 is too large (want a number "
                  "within 2^63-1 thousandths) (see strata "
                  "topology --help)"},
        UsageCase{"queue_format",
                  {"queue", "list", "-f", ".", "-o", "yaml"},
                  "strata queue list: --output: unknown format \"yaml\" (want table|json) (see "
                  "strata queue list --help)"},
        UsageCase{"discover",
                  {"discover"},
                  "strata discover: --config is required (see strata discover --help)"},
        UsageCase{
            "discover_format",
            {"discover", "--config", "x", "-o", "table"},
            "strata discover: --output: unknown format \"table\" (want yaml|json) (see strata "
            "discover --help)"},
        UsageCase{"explain_nothing",
                  {"explain", "-f", "."},
                  "strata explain: name is required (see strata explain --help)"},
        UsageCase{"explain_name",
                  {"explain", "-f", ".", "ml/train/0"},
                  "strata explain: name: \"ml/train/0\": want NAMESPACE/NAME, NAME or KIND/NAME "
                  "(see strata "
                  "explain --help)"},
        UsageCase{"explain_format",
                  {"explain", "-f", ".", "-o", "yaml", "a/b"},
                  "strata explain: --output: unknown format \"yaml\" (want table|json) (see strata "
                  "explain --help)"},
        UsageCase{"explain",
                  {"simulate", "-f", ".", "--explain", "train"},
                  "strata simulate: --explain: \"train\": want NAMESPACE/NAME (see strata simulate "
                  "--help)"}),
    [](const auto& test) { return test.param.name; });

TEST(CommandLine, HelpHasExamplesAndGoesToStandardOutput) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"},
                                                    {"simulate", "--help"},
                                                    {"explain", "--help"},
                                                    {"topology", "--help"},
                                                    {"queue", "list", "--help"},
                                                    {"discover", "--help"}}) {
    const RunOutput run = Strata(arguments);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.err, "");
    EXPECT_THAT(run.out, HasSubstr("Examples:\n  strata "));
  }
}

TEST(CommandLine, HelpSaysWhichConfigurationHolds) {
  const std::string manifests =
      "default: ConfigMap volcano-system/volcano-scheduler-configmap of the manifests";
  EXPECT_THAT(Strata({"simulate", "--help"}).out,
              HasSubstr(manifests + ", else the built-in default\n"));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"topology"}, {"explain"}, {"queue", "list"}}) {
    std::vector<std::string> help = command;
    help.emplace_back("--help");
    EXPECT_THAT(Strata(help).out,
                HasSubstr(manifests + " or of the running cluster, else the built-in default\n"));
  }
}

TEST(CommandLine, HelpSaysWhatTimeItIs) {
  const std::string manifests = "default: the latest time in the manifests, 1970 if they have none";
  EXPECT_THAT(Strata({"simulate", "--help"}).out, HasSubstr(manifests + "\n"));
  EXPECT_THAT(Strata({"explain", "--help"}).out,
              HasSubstr(manifests + "; for a running cluster: now\n"));
}

TEST(CommandLine, VersionIsOneLine) {
  const RunOutput run = Strata({"version"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, AllOf(StartsWith("strata "), EndsWith("\n")));
  EXPECT_EQ(Strata({"--version"}).out, run.out);
}

TEST(CommandLine, UnknownKindsAreWarningsAndNoMore) {
  const auto folder = std::filesystem::temp_directory_path() / "strata-unknown-kind";
  std::filesystem::create_directories(folder);
  WriteFile(folder / "a.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n");
  const RunOutput run = Strata({"simulate", "-f", folder.string(), "-o", "json"});
  std::filesystem::remove_all(folder);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, StartsWith("{"));
  EXPECT_THAT(run.err, AllOf(StartsWith("warning: "), HasSubstr("Service")));
}

TEST(CommandLine, TheTableShowsWhereEveryPodWent) {
  const RunOutput run = Strata({"simulate", "-f", Examples() + "/training"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Running"));
  EXPECT_THAT(run.out, HasSubstr("4 pods bound; 0 of 1 job not placed; 3 cycles."));
  EXPECT_THAT(run.out, testing::Not(HasSubstr("\x1b["))) << "colours belong on a terminal";
  EXPECT_THAT(run.err, IsEmpty());
}

TEST(CommandLine, QueueListShowsWhatQueuesHaveAndWhyJobsWait) {
  const RunOutput run = Strata({"queue", "list", "-f", Examples() + "/hard-pending"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, StartsWith("QUEUE    STATE  PARENT"));
  EXPECT_THAT(run.out, HasSubstr("TopologyUnsatisfied"));
  EXPECT_THAT(run.out, EndsWith("\nShares by proportion.\n"));
}

// Cases with a file queues.txt hold the whole of `strata queue list -o json` in it.
TEST(CommandLine, QueueListPrintsTheSharesOfTheCases) {
  for (const std::filesystem::path& folder : CasesOf("cases")) {
    const std::filesystem::path expected = folder / "queues.txt";
    if (!std::filesystem::exists(expected)) continue;
    std::vector<std::string> command = CommandOf(folder);
    command.front() = "queue";
    command.insert(command.begin() + 1, "list");
    const RunOutput run = RunStrata(folder, command);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    if (UpdatesGoldens()) WriteFile(expected, run.out);
    EXPECT_EQ(run.out, ReadFile(expected)) << "in " << folder;
  }
}

TEST(CommandLine, YamlHoldsWhatJsonHolds) {
  const RunOutput run = Strata({"simulate", "-f", Examples() + "/training", "-o", "yaml"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, StartsWith("binds:\n  default/pytorch-distributed-training-worker-0: "));
  EXPECT_THAT(run.out, HasSubstr("\npipelined: {}\nevicted: []\n"));
  EXPECT_THAT(run.out, HasSubstr("\ntopologyReady: true\n"));
}

TEST(CommandLine, TracingChangesNoDecision) {
  const auto trace = std::filesystem::temp_directory_path() / "strata-trace-test.jsonl";
  const RunOutput plain = Strata({"simulate", "-f", Examples() + "/training", "-o", "json"});
  const RunOutput traced =
      Strata({"simulate", "-f", Examples() + "/training", "-o", "json", "--trace", trace.string()});
  const std::string lines = ReadFile(trace);
  std::filesystem::remove(trace);
  EXPECT_EQ(traced.out, plain.out);
  EXPECT_THAT(lines, StartsWith("{\"cycle\":1,\"type\":\""));
  EXPECT_THAT(lines, HasSubstr("\"type\":\"gradient\""));
  EXPECT_THAT(lines, HasSubstr("\"type\":\"hyperNodeScore\""));
}

TEST(CommandLine, TimingsAppearOnlyWhenAskedFor) {
  const std::vector<std::string> command = {
      "simulate", "-f", Examples() + "/training", "-o", "json", "--timings"};
  EXPECT_THAT(Strata(command).out, HasSubstr("\"loadMs\": "));
  EXPECT_THAT(Strata({command.begin(), command.end() - 1}).out, testing::Not(HasSubstr("timings")));
}

TEST(CommandLine, ATraceThatCannotBeWrittenIsAnError) {
  const RunOutput run =
      Strata({"simulate", "-f", Examples() + "/training", "--trace", "/nonexistent/trace"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, "/nonexistent/trace: cannot write: No such file or directory\n");
}

TEST(CommandLine, WhatIsWrongIsSaidBeforeAnOlderTraceIsLost) {
  const auto folder = std::filesystem::temp_directory_path() / "strata-older-trace";
  std::filesystem::create_directories(folder);
  WriteFile(folder / "trace", "older");
  WriteFile(folder / "bad.conf",
            "actions: allocate\n"
            "configurations: [{name: allocate, arguments: {predicateErrorCacheEnable: maybe}}]\n");
  const auto error = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {
        "simulate", "-f", Examples() + "/training", "--trace", "trace"};
    command.insert(command.end(), more.begin(), more.end());
    return RunStrata(folder, command).err;
  };
  EXPECT_EQ(error({"--scheduler-conf", "bad.conf"}),
            "bad.conf: configurations[0].arguments.predicateErrorCacheEnable: want true or false, "
            "found \"maybe\"\n");
  EXPECT_THAT(error({"--explain", "default/nobody"}),
              StartsWith("no Job, PodGroup, pod or Deployment default/nobody: "));
  EXPECT_EQ(ReadFile(folder / "trace"), "older");
  std::filesystem::remove_all(folder);
}

TEST(CommandLine, AnArgumentThatNoActionKnowsIsAWarning) {
  const auto conf = std::filesystem::temp_directory_path() / "strata-unknown-argument.conf";
  WriteFile(conf,
            "actions: enqueue, allocate\ntiers: [{plugins: [{name: gang}, {name: predicates}]}]\n"
            "configurations: [{name: allocate, arguments: {foo: 3}}]\n");
  const RunOutput run =
      Strata({"simulate", "-f", Examples() + "/training", "--scheduler-conf", conf.string()});
  std::filesystem::remove(conf);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err,
            "warning: " + conf.string() +
                ": configurations[0].arguments.foo: unknown argument, ignored\n");
}

TEST(CommandLine, ExplainTakesTheNameOfTheJob) {
  const RunOutput run = Strata({"simulate",
                                "-f",
                                Examples() + "/hard-pending",
                                "--explain",
                                "default/pytorch-distributed-training"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("EXPLAIN\ndefault/pytorch-distributed-training waits"));
  EXPECT_THAT(run.out, HasSubstr("tier 2: ruled out: s4, s5: "));
}

TEST(CommandLine, TopologyCountsTheGangsThatFit) {
  const RunOutput run = Strata(
      {"topology", "-f", Examples() + "/training", "--as-given", "--pod", "nvidia.com/gpu=1"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("1        2  s0\n"));
  EXPECT_THAT(run.out, HasSubstr("2        4  s4\n"));
  EXPECT_THAT(run.out, HasSubstr("any      8  (cluster)\n"));
}

TEST(CommandLine, ColumnsOfGpusCountThoseThatNodesRegister) {
  //   16 GPUs in 160 shares; of dgx-0 three are free, of dgx-1 six
  for (const char* command : {"simulate", "topology"}) {
    const RunOutput run = Strata({command, "-f", Examples() + "/gpu-topology"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, testing::ContainsRegex("\\(cluster\\) +1 +2 +0 +128 +0 +1Ti +7 +9 "));
  }
}

TEST(CommandLine, TopologyComesAfterTheJobsArePlaced) {
  const RunOutput run = Strata({"topology", "-f", Examples() + "/training", "-o", "json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\"pod\": {\n    \"nvidia.com/gpu\": \"1\"\n  }"));
  EXPECT_THAT(run.out, HasSubstr("\"hyperNode\": \"<cluster-top-hypernode>\",\n      \"pods\": 4"));
}

TEST(CommandLine, TheConfigurationMayBeAConfigMap) {
  for (const char* conf : {"configmap.yaml", "hypernode-binpack.conf", "network-topology.conf"}) {
    const RunOutput run = Strata({"simulate",
                                  "-f",
                                  Examples() + "/training",
                                  "--scheduler-conf",
                                  Examples() + "/scheduler-conf/" + conf});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "") << conf;
    EXPECT_THAT(run.out, HasSubstr("4 pods bound"));
  }
}

}  // namespace
}  // namespace strata::scenario
