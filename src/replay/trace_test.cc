#include "replay/trace.h"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/generate.h"
#include "replay/input_files.h"

namespace strata::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Trace> Read(const std::string& text, const ReadOptions& options = {}) {
  const std::array<TraceText, 1> files = {TraceText{.path = "t.csv", .text = text}};
  return ReadTrace(files, options);
}

std::string ErrorOf(const std::string& text, const ReadOptions& options = {}) {
  const auto trace = Read(text, options);
  return trace ? "" : trace.error().message;
}

std::vector<std::string> NamesOf(const Trace& trace) {
  std::vector<std::string> names;
  for (const TraceJob& job : trace.jobs) names.push_back(job.name);
  return names;
}

TEST(ReadTrace, TakesTheFourRequiredColumnsAndSortsBySubmission) {
  const auto trace = Read("job,submit,duration,pods\nb,2,10,1\na,1.5,0.25,3\n");
  ASSERT_TRUE(trace.has_value());
  EXPECT_THAT(NamesOf(*trace), ElementsAre("a", "b"));
  EXPECT_EQ(trace->jobs[0].submit, 1500);
  EXPECT_EQ(trace->jobs[0].duration, 250);
  EXPECT_EQ(trace->jobs[0].pods, 3);
  EXPECT_EQ(trace->jobs[0].queue, "default");
  EXPECT_FALSE(trace->gangs_assumed);
}

TEST(ReadTrace, KeepsTheOrderOfJobsOfOneMoment) {
  auto trace = Read("job,submit,duration,pods\nc,2,9,1\na,2.5,1,1\nb,2,7,1\n");
  ASSERT_TRUE(trace.has_value());
  EXPECT_THAT(NamesOf(*trace), ElementsAre("c", "b", "a"));
  ScaleLoad(*trace, 1000);
  EXPECT_THAT(NamesOf(*trace), ElementsAre("c", "b", "a"));
}

TEST(ReadTrace, SaysFileLineAndColumnOfWhatIsWrong) {
  EXPECT_EQ(ErrorOf(""), "t.csv:1:1: no header: want a line with the names of the columns");
  EXPECT_EQ(ErrorOf("job,submit,duration,pods\n"), "t.csv: no jobs");
  EXPECT_THAT(ErrorOf("job,submit,duration,pods\n# note\n\na,1,x,1\n"),
              HasSubstr("t.csv:4:5: column duration: want seconds from 0 to 10000000000, found "
                        "\"x\""));
  EXPECT_THAT(ErrorOf("job,submit,duration,pods\na,1,2\n"),
              HasSubstr("t.csv:2:1: want 4 fields, as in the header, found 3"));
  EXPECT_THAT(ErrorOf("job,submit,duration,pods,colour\na,1,2,1,red\n"),
              HasSubstr("t.csv:1:26: column colour: unknown column; known are job"));
  EXPECT_THAT(ErrorOf("job,submit,pods\n"), HasSubstr("column duration: missing from the header"));
  EXPECT_THAT(ErrorOf("job,submit,duration,pods\na,1,2,1\na,3,4,1\n"),
              HasSubstr("job \"a\" is a duplicate"));
  EXPECT_THAT(ErrorOf("job,submit,duration,pods\n\"a,1,2,1\n"), HasSubstr("t.csv:2:1: a quote"));
  EXPECT_THAT(ErrorOf("job,submit,duration,pods\na,1,2,0\n"),
              HasSubstr("column pods: want a whole number from 1"));
  EXPECT_THAT(ErrorOf("what,is,this\n1,2,3\n"), HasSubstr("unknown header: want job,submit"));
  EXPECT_THAT(ErrorOf("job,submit,duration,pods,mode\na,1,2,1,hard\n"),
              HasSubstr("column tier: want the highest tier of a hard job"));
  EXPECT_THAT(ErrorOf("job,submit,duration,pods\na,1,2,1\n", {.format = "itp"}),
              HasSubstr("column job_id is missing; format itp has"));
}

TEST(ReadTrace, MakesPodsOfGpusByTheGangRule) {
  const std::string text = "job_id,submission_time,duration,num_gpu\na,0,1,4\nb,1,1,8\nc,2,1,20\n";
  const auto trace = Read(text);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->format, "itp");
  EXPECT_TRUE(trace->gangs_assumed);
  EXPECT_EQ(trace->jobs[0].pods, 1);
  EXPECT_EQ(trace->jobs[1].pods, 1);
  EXPECT_EQ(trace->jobs[2].pods, 3);
  EXPECT_EQ(trace->jobs[2].gpus, 8);
  EXPECT_EQ(trace->jobs[2].last_gpus, 4);
  const auto small = Read(text, {.format = "", .gpus_per_pod = 4});
  ASSERT_TRUE(small.has_value());
  EXPECT_EQ(small->jobs[2].pods, 5);
}

TEST(ReadTrace, CountsDatesFromTheFirstSubmission) {
  const auto trace = Read(
      "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-01 00:00:01,5,1,5,v\n"
      "2017-09-30 23:59:59,5.0,16,80,w\n");
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->jobs[0].submit, 0);
  EXPECT_EQ(trace->jobs[1].submit, 2000);
  EXPECT_EQ(trace->jobs[0].queue, "w");
  EXPECT_THAT(NamesOf(*trace), ElementsAre("job-0000001", "job-0000002"));
}

TEST(ReadTrace, TakesNodesOfHeliosAsGangAndLeavesOutWhatNeverRan) {
  const auto trace = Read(
      "job_id,user,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,vc\n"
      "1,u,15,4,2,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:10,2020-04-01 00:01:10,v\n"
      "2,u,8,4,1,CANCELLED,2020-04-01 00:00:00,,,v\n");
  ASSERT_TRUE(trace.has_value());
  ASSERT_EQ(trace->jobs.size(), 1U);
  EXPECT_EQ(trace->jobs[0].pods, 2);
  EXPECT_EQ(trace->jobs[0].gpus, 8);
  EXPECT_EQ(trace->jobs[0].last_gpus, 7);
  EXPECT_EQ(trace->jobs[0].duration, 60'000);
  EXPECT_EQ(trace->left_out, 1U);
}

TEST(ReadTrace, TakesTheStandardWorkloadFormat) {
  const std::string text =
      "; Version: 2.2\n"
      "1 0 5 100 16 -1 -1 16 200 -1 1 7 1 1 3 1 -1 -1\n"
      "2 9 -1 -1 -1 -1 -1 -1 -1 -1 5 -1 -1 -1 -1 -1 -1 -1\n";
  const auto trace = Read(text);
  ASSERT_TRUE(trace.has_value());
  ASSERT_EQ(trace->jobs.size(), 1U);
  EXPECT_EQ(trace->jobs[0].pods, 2);
  EXPECT_EQ(trace->jobs[0].walltime, 200'000);
  EXPECT_EQ(trace->jobs[0].queue, "3");
  EXPECT_EQ(trace->left_out, 1U);
  EXPECT_THAT(ErrorOf("; x\n1 0 5 x 16 -1 -1 16 200 -1 1 7 1 1 3 1 -1 -1\n"),
              HasSubstr("t.csv:2:7: field 4: want a number from -1"));
  EXPECT_THAT(ErrorOf("; x\n1 0 5\n"), HasSubstr("t.csv:2:1: want 18 fields, found 3"));
}

TEST(ReadTrace, TakesBatsimsDelaysAndRefusesOtherProfilesByName) {
  const std::string head =
      R"({"jobs":[{"id":"j","subtime":1.5,"res":2,"profile":"p"}],"profiles":)";
  const auto trace = Read(head + R"({"p":{"type":"delay","delay":7}}})");
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->jobs[0].submit, 1500);
  EXPECT_EQ(trace->jobs[0].gpus, 2);
  EXPECT_EQ(trace->jobs[0].duration, 7000);
  EXPECT_THAT(ErrorOf(head + R"({"p":{"type":"smpi"}}})"),
              HasSubstr("jobs[0].profile: want a profile of type delay, found \"p\" of type "
                        "\"smpi\""));
  EXPECT_THAT(ErrorOf("{\n \"jobs\": ["), HasSubstr("t.csv: "));
}

TEST(ReadTrace, TakesMachinesOfPhillysLastAttemptAsGang) {
  const auto trace = Read(R"([{"jobid":"a","vc":"v","user":"u","status":"Pass",
      "submitted_time":"2017-10-03 05:07:15","attempts":[{"start_time":"2017-10-03 05:08:00",
      "end_time":"2017-10-03 05:09:00","detail":[{"ip":"m1","gpus":["g0","g1"]},
      {"ip":"m2","gpus":["g0","g1"]}]}]},
      {"jobid":"b","submitted_time":"2017-10-03 05:07:16","attempts":[]}])");
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->jobs[0].pods, 2);
  EXPECT_EQ(trace->jobs[0].gpus, 2);
  EXPECT_EQ(trace->jobs[0].duration, 60'000);
  EXPECT_EQ(trace->left_out, 1U);
}

TEST(ReadTrace, TakesTablesOfOtherClusters) {
  const auto openb = Read(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\np,6000,12288,1,460,V100M16|V100M32,LS,Running,5,25,6\n");
  ASSERT_TRUE(openb.has_value());
  EXPECT_EQ(openb->jobs[0].gpu_milli, 460);
  EXPECT_EQ(openb->jobs[0].cpu_milli, 6000);
  EXPECT_EQ(openb->jobs[0].duration, 20'000);
  const auto pai = Read(
      "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n"
      "j,worker,4.0,Terminated,10.0,30.0,600.0,29.2,200.0,T4\n");
  ASSERT_TRUE(pai.has_value());
  EXPECT_EQ(pai->jobs[0].pods, 4);
  EXPECT_EQ(pai->jobs[0].gpus, 2);
  const auto tiresias = Read("job_id,num_gpu,submit_time,iterations,duration\n7,4,100,3,50\n");
  ASSERT_TRUE(tiresias.has_value());
  EXPECT_EQ(tiresias->jobs[0].gpus, 4);
}

// Our own form has seconds up to 10^10; a trace with longer times could not be written in it.
TEST(ReadTrace, RefusesTimesThatOurOwnFormCannotHold) {
  const std::string head = "timestamp,duration,num_gpus,gpu_time,cluster\n";
  EXPECT_THAT(ErrorOf(head + "9999-10-01 00:00:01,5,1,5,v\n"),
              HasSubstr("column timestamp: want a time such as 2017-10-03 05:07:15"));
  EXPECT_THAT(ErrorOf(head + "1970-01-01 00:00:01+23:00,5,1,5,v\n"), HasSubstr("want a time"));
  std::string attempts;
  for (int i = 0; i < 40; ++i) {
    attempts += std::string(i == 0 ? "" : ",") +
                R"({"start_time":"1971-01-01 00:00:00","end_time":"2270-01-01 00:00:00",)" +
                R"("detail":[{"ip":"m","gpus":["g"]}]})";
  }
  EXPECT_THAT(ErrorOf(R"([{"jobid":"a","submitted_time":"1971-01-01 00:00:00","attempts":[)" +
                      attempts + "]}]"),
              HasSubstr("t.csv: [0].attempts: want at most 10^10 seconds together"));
}

// Two names that differ in a line break only would be the same in our own form.
TEST(ReadTrace, RefusesLineBreaksInNames) {
  EXPECT_THAT(ErrorOf(R"({"jobs":[{"id":"j\nk","subtime":1,"res":2,"profile":"p"}],)"
                      R"("profiles":{"p":{"type":"delay","delay":7}}})"),
              HasSubstr("t.csv: jobs[0].id: want a name without line breaks"));
  EXPECT_THAT(ErrorOf(R"([{"jobid":"a\rb","submitted_time":"2017-10-03 05:07:15"}])"),
              HasSubstr("t.csv: [0].jobid: want a name without line breaks"));
}

TEST(WriteTrace, IsReadAgainAsTheSameTrace) {
  const auto trace = Read(
      "# from somewhere\njob,submit,duration,pods,gpus,last_gpus,cpu,memory,queue,user,priority,"
      "tier,mode,groups,walltime,gpu_milli,gpu_model,status\n"
      "\"a, "
      "\"\"b\"\"\",0.001,3,2,8,4,1500m,1Gi,q,u,3,1,hard,2,9,1000,A|B,ok\nc,1,1,1,1,,,,,,,,,,,,,\n");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  const auto again = Read(WriteTrace(*trace));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->jobs, trace->jobs);
  EXPECT_EQ(again->provenance, trace->provenance);
}

TEST(ScaleLoad, BringsSubmissionsCloserTogetherAndNothingElse) {
  auto trace = Read("job,submit,duration,pods\na,10,7,1\nb,20,7,1\n");
  ASSERT_TRUE(trace.has_value());
  ScaleLoad(*trace, 2);
  EXPECT_EQ(trace->jobs[0].submit, 10'000);
  EXPECT_EQ(trace->jobs[1].submit, 15'000);
  EXPECT_EQ(trace->jobs[1].duration, 7000);
}

TEST(CutWindow, KeepsWhatIsSubmittedInIt) {
  auto trace = Read("job,submit,duration,pods\na,10,7,1\nb,20,7,1\nc,30,7,1\n");
  ASSERT_TRUE(trace.has_value());
  CutWindow(*trace, 20'000, 30'000);
  EXPECT_THAT(NamesOf(*trace), ElementsAre("b"));
  EXPECT_EQ(trace->jobs[0].submit, 0);
}

TEST(GenerateTrace, IsAFunctionOfItsSeed) {
  const auto spec = ParseGenerateTraceSpec("jobs=50,rate=0.5,duration=60,sizes=1:3+20:1");
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(WriteTrace(GenerateTrace(*spec, 3)), WriteTrace(GenerateTrace(*spec, 3)));
  EXPECT_NE(WriteTrace(GenerateTrace(*spec, 3)), WriteTrace(GenerateTrace(*spec, 4)));
  const auto read = Read(WriteTrace(GenerateTrace(*spec, 3)));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->jobs, GenerateTrace(*spec, 3).jobs);
  EXPECT_THAT(ParseGenerateTraceSpec("jobs=0").error().message,
              HasSubstr("jobs: want a number from 1 to"));
  EXPECT_THAT(ParseGenerateTraceSpec("speed=1").error().message,
              HasSubstr("unknown key \"speed\""));
}

TEST(GenerateTrace, MayGiveEachSizeAMeanDurationOfItsOwn) {
  const auto spec = ParseGenerateTraceSpec("jobs=4000,rate=1,duration=7,sizes=1:1:10+8:1:1000+2:1");
  ASSERT_TRUE(spec.has_value());
  std::map<std::int32_t, std::pair<double, int>> by_size;
  for (const TraceJob& job : GenerateTrace(*spec, 1).jobs) {
    by_size[job.gpus].first += static_cast<double>(job.duration) / 1000;
    ++by_size[job.gpus].second;
  }
  const auto mean = [&](std::int32_t gpus) { return by_size[gpus].first / by_size[gpus].second; };
  EXPECT_NEAR(mean(1), 10, 1);
  EXPECT_NEAR(mean(8), 1000, 100);
  EXPECT_NEAR(mean(2), 7, 0.7);
  EXPECT_THAT(ParseGenerateTraceSpec("sizes=1:1:x").error().message,
              HasSubstr("sizes: want a number from 10^-9 to 10^9"));
}

TEST(Decompressed, RefusesWhatIsDamagedOrTooLong) {
  const std::string gzip(
      "\x1F\x8B\x08\x00\x00\x00\x00\x00\x02\x03\xCB\x48\xCD\xC9\xC9\x07\x00\x86"
      "\xA6\x10\x36\x05\x00\x00\x00",
      25);
  EXPECT_EQ(Decompressed(gzip, 100).value(), "hello");
  EXPECT_EQ(Decompressed("plain", 100).value(), "plain");
  EXPECT_EQ(Decompressed(gzip, 3).error().message, "gzip: more than 3 bytes");
  EXPECT_EQ(Decompressed(gzip.substr(0, 14), 100).error().message, "gzip: the data ends too early");
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace strata::replay
