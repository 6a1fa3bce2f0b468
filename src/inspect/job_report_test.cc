#include "inspect/job_report.h"

#include <chrono>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/timestamp.h"
#include "inspect/render_jobs.h"

namespace strata::inspect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Time At(const std::string& clock) {
  return ParseTimestamp("2026-01-01T" + clock + "Z").value();
}

ListedObject Object(std::string ns, std::string name, std::string text) {
  return {{std::move(ns), std::move(name)}, std::move(text)};
}

ListedObject Job(const std::string& status) {
  return Object(
      "ml",
      "train",
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"train",
                    "namespace":"ml","uid":"u1"},"spec":{"minAvailable":2,"queue":"gpu","tasks":[
                    {"name":"worker","replicas":3,"template":{"spec":{"containers":[{"name":"c",
                    "image":"i"}]}}}]},"status":)" +
          status + "}");
}

ListedObject Pod(const std::string& index, const std::string& node, const std::string& phase) {
  return Object("ml",
                "train-worker-" + index,
                R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"train-worker-)" + index +
                    R"(","namespace":"ml","labels":{"volcano.sh/job-name":"train",
                    "volcano.sh/task-spec":"worker"}},"spec":{"nodeName":")" +
                    node + R"(","containers":[{"name":"c","image":"i"}]},"status":{"phase":")" +
                    phase + R"("}})");
}

ListedObject Group(const std::string& conditions) {
  return Object("ml",
                "train-u1",
                R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{
                    "name":"train-u1","namespace":"ml"},"spec":{"minMember":2},"status":{
                    "phase":"Inqueue","conditions":)" +
                    conditions + "}}");
}

ListedObject Node(const std::string& name) {
  return Object(
      "", name, R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name + "\"}}");
}

ListedObject HyperNode(const std::string& name, const std::string& spec) {
  return Object("",
                name,
                R"({"apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode","metadata":{
                    "name":")" +
                    name + R"("},"spec":)" + spec + "}");
}

std::string Members(const std::string& type, const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "" : ",") + std::string(R"({"type":")") + type +
            R"(","selector":{"exactMatch":{"name":")" + name + R"("}}})";
  }
  return "[" + list + "]";
}

// Two leaves of two nodes below one spine.
std::vector<ListedObject> Network() {
  return {Node("a1"),
          Node("a2"),
          Node("b1"),
          HyperNode("leaf-a", R"({"tier":1,"members":)" + Members("Node", {"a1", "a2"}) + "}"),
          HyperNode("leaf-b", R"({"tier":1,"members":)" + Members("Node", {"b1"}) + "}"),
          HyperNode("spine",
                    R"({"tier":2,"members":)" + Members("HyperNode", {"leaf-a", "leaf-b"}) + "}")};
}

std::vector<JobReport> ReportsOf(std::vector<ListedObject> jobs,
                                 const std::vector<ListedObject>& others) {
  JobObjects objects{std::move(jobs), {}, Network()};
  for (const ListedObject& object : others) {
    const bool pod = object.text.find(R"("kind":"Pod",)") != std::string::npos;
    (pod ? objects.pods : objects.others).push_back(object);
  }
  std::vector<std::string> warnings;
  auto reports = MakeJobReports(objects.Texts(), warnings);
  EXPECT_TRUE(reports) << reports.error().message;
  EXPECT_THAT(warnings, IsEmpty());
  return std::move(*reports);
}

JobReport ReportOf(const ListedObject& job, const std::vector<ListedObject>& others) {
  const std::vector<JobReport> reports = ReportsOf({job}, others);
  EXPECT_EQ(reports.size(), 1U);
  return reports.front();
}

TEST(MakeJobReports, FindTheLowestDomainOfPodsWithANode) {
  const JobReport job = ReportOf(Job(R"({"state":{"phase":"Running"}})"),
                                 {Group("[]"),
                                  Pod("0", "a1", "Running"),
                                  Pod("1", "a2", "Running"),
                                  Pod("2", "b1", "Succeeded")});
  EXPECT_EQ(job.phase, "Running");
  EXPECT_EQ(job.group, "train-u1");
  EXPECT_EQ(job.ready, 2U);
  EXPECT_EQ(job.total, 3U);
  EXPECT_EQ(job.domain, "leaf-a");
  EXPECT_EQ(job.tier, 1);
  EXPECT_EQ(job.reason, "");
  ASSERT_EQ(job.pods.size(), 3U);
  EXPECT_EQ(job.pods[2].leaf, "leaf-b");
  EXPECT_THAT(job.tasks[0].pods,
              ElementsAre(testing::Pair("Running", 2), testing::Pair("Succeeded", 1)));
}

TEST(MakeJobReports, PodsInTwoLeavesHaveTheSpineAsDomain) {
  const JobReport job =
      ReportOf(Job("{}"), {Group("[]"), Pod("0", "a1", "Running"), Pod("1", "b1", "Running")});
  EXPECT_EQ(job.domain, "spine");
  EXPECT_EQ(job.tier, 2);
}

TEST(MakeJobReports, SayWhyAJobWaits) {
  const JobReport job = ReportOf(
      Job("{}"), {Group(R"([{"type":"Unschedulable","status":"True","reason":"NotEnoughResources",
                  "message":"2/2 tasks in gang unschedulable"}])")});
  EXPECT_EQ(job.phase, "Pending");
  EXPECT_EQ(job.reason, "NotEnoughResources");
  EXPECT_EQ(job.message, "2/2 tasks in gang unschedulable");
}

TEST(MakeJobReports, SayWhyTheRestOfARunningJobWaits) {
  const ListedObject job = Job(R"({"state":{"phase":"Running"}})");
  const ListedObject group = Group(
      R"([{"type":"Unschedulable","status":"False","reason":"ClusterFull","message":"1/3 tasks"}])");
  const std::vector<ListedObject> some = {
      group, Pod("0", "a1", "Running"), Pod("1", "a2", "Running"), Pod("2", "", "Pending")};
  EXPECT_EQ(ReportOf(job, some).reason, "ClusterFull");
  EXPECT_EQ(ReportOf(job, some).message, "1/3 tasks");
  const std::vector<ListedObject> all = {
      group, Pod("0", "a1", "Running"), Pod("1", "a2", "Running"), Pod("2", "b1", "Pending")};
  EXPECT_EQ(ReportOf(job, all).reason, "") << "what waited once has a node";
}

// The text with `from` replaced.
ListedObject With(ListedObject object, const std::string& from, const std::string& to) {
  object.text.replace(object.text.find(from), from.size(), to);
  return object;
}

TEST(MakeJobReports, SayThatNoSchedulerServesThePods) {
  const ListedObject pod =
      With(Pod("0", "", "Pending"), "\"nodeName\":\"\"", R"("schedulerName":"volcanoo")");
  const ListedObject group = Group(
      R"([{"type":"Unschedulable","status":"True","reason":"NotEnoughTasks","message":"0 pods"}])");
  const JobReport job = ReportOf(Job("{}"), {group, pod});
  EXPECT_EQ(job.reason, "SchedulerNotFound");
  EXPECT_EQ(job.message, "no scheduler serves schedulerName \"volcanoo\" of pod train-worker-0");
  const ListedObject looked =
      With(pod, "\"phase\"", R"("conditions":[{"type":"PodScheduled","status":"False"}],"phase")");
  EXPECT_EQ(ReportOf(Job("{}"), {group, looked}).reason, "NotEnoughTasks");
}

TEST(MakeJobReports, SayThatThePriorityClassIsMissing) {
  const ListedObject job =
      With(Job("{}"), "\"minAvailable\"", R"("priorityClassName":"nope","minAvailable")");
  JobObjects objects{{job}, {}, {Group("[]")}};
  std::vector<std::string> warnings;
  EXPECT_EQ(MakeJobReports(objects.Texts(), warnings).value().front().reason, "")
      << "unknown which classes there are";
  objects.has_classes = true;
  const JobReport report = MakeJobReports(objects.Texts(), warnings).value().front();
  EXPECT_EQ(report.reason, "PriorityClassNotFound");
  EXPECT_EQ(report.message, "PriorityClass \"nope\" does not exist, so 3 pods cannot be created");
}

TEST(TimeOf, CountsSinceTheJobWasStartedAgain) {
  JobReport job;
  job.created = At("08:00:00");
  job.since = At("10:00:00");
  job.started = At("08:10:00");
  job.phase = "Pending";
  EXPECT_EQ(TimeOf(job, At("10:20:00")), std::chrono::minutes(20));
  job.state = JobState::kRunning;
  job.phase = "Running";
  EXPECT_EQ(TimeOf(job, At("10:20:00")), std::chrono::minutes(20));
  job.phase = "Completing";
  EXPECT_EQ(TimeOf(job, At("10:20:00")), std::chrono::minutes(130));
}

TEST(MakeJobReports, SayThatAJobHasNoPodGroup) {
  EXPECT_EQ(ReportOf(Job("{}"), {}).reason, "NoPodGroup");
}

TEST(MakeJobReports, TakeTheMessageOfAFinishedJob) {
  const JobReport job =
      ReportOf(Job(R"({"state":{"phase":"Failed","reason":"PodFailed","message":"exit 1"}})"),
               {Group(R"([{"type":"Unschedulable","status":"True","message":"old"}])")});
  EXPECT_EQ(job.reason, "PodFailed");
  EXPECT_EQ(job.message, "exit 1");
}

// A pod of a PodGroup without a Job, that has two GPUs and ran from 10:00.
ListedObject Member(const std::string& name, const std::string& node, const std::string& status) {
  return Object("ml",
                name,
                R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                    R"(","namespace":"ml","annotations":{"scheduling.k8s.io/group-name":"ray"}},
                    "spec":{"nodeName":")" +
                    node + R"(","containers":[{"name":"c","image":"i","resources":{"limits":{
                    "nvidia.com/gpu":2}}}]},"status":{"startTime":"2026-01-01T10:00:00Z",)" +
                    status + "}}");
}

ListedObject PlainGroup(const std::string& phase, const std::string& owner) {
  return Object("ml",
                "ray",
                R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{
                    "name":"ray","namespace":"ml","creationTimestamp":"2026-01-01T09:00:00Z",
                    "labels":{"team":"vision"},"ownerReferences":[)" +
                    owner + R"(]},"spec":{"minMember":2,"queue":"gpu"},"status":{"phase":")" +
                    phase + "\"}}");
}

constexpr const char* kRayOwner =
    R"({"apiVersion":"ray.io/v1","kind":"RayCluster","name":"r","uid":"u","controller":true})";

TEST(MakeJobReports, ListPodGroupsThatBelongToNoJob) {
  const auto reports = ReportsOf({},
                                 {PlainGroup("Running", kRayOwner),
                                  Member("head", "a1", R"("phase":"Running")"),
                                  Member("worker", "a2", R"("phase":"Running")"),
                                  Member("late", "", R"("phase":"Pending")")});
  ASSERT_EQ(reports.size(), 1U);
  const JobReport& job = reports.front();
  EXPECT_EQ(job.kind, JobReport::Kind::kPodGroup);
  EXPECT_EQ(job.owner, "RayCluster/r");
  EXPECT_EQ(job.state, JobState::kRunning);
  EXPECT_EQ(std::make_pair(job.ready, job.total), std::make_pair(std::size_t{2}, std::size_t{3}));
  EXPECT_EQ(job.gpus, Quantity::FromValue(6));
  EXPECT_FALSE(job.shares_gpus);
  EXPECT_EQ(job.domain, "leaf-a");
  EXPECT_THAT(job.nodes, ElementsAre("a1", "a2"));
  EXPECT_EQ(TimeOf(job, At("10:20:00")), std::chrono::minutes(20));
}

TEST(MakeJobReports, LeaveThePodGroupsOfJobsOut) {
  const std::string owner =
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"gone","uid":"u"})";
  EXPECT_THAT(ReportsOf({}, {PlainGroup("Running", owner)}), IsEmpty());
  EXPECT_EQ(ReportsOf({Job("{}")}, {Group("[]")}).size(), 1U);
}

TEST(MakeJobReports, AGroupWaitsSinceItWasCreated) {
  const auto reports = ReportsOf({}, {PlainGroup("Inqueue", "")});
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].state, JobState::kWaiting);
  EXPECT_EQ(reports[0].total, 2U);
  EXPECT_EQ(TimeOf(reports[0], At("09:05:00")), std::chrono::minutes(5));
}

TEST(MakeJobReports, AFinishedGroupSaysWhereItRanHowLongAndHowItEnded) {
  const std::string ended =
      R"("phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":137,
         "reason":"OOMKilled","finishedAt":"2026-01-01T10:30:00Z"}}}])";
  const auto reports = ReportsOf({}, {PlainGroup("Completed", ""), Member("head", "b1", ended)});
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].domain, "leaf-b");
  EXPECT_EQ(reports[0].exit_code, 137);
  EXPECT_EQ(TimeOf(reports[0], At("12:00:00")), std::chrono::minutes(30));
}

TEST(MakeJobReports, AFinishedJobRanUntilItsPhaseChanged) {
  const JobReport job =
      ReportOf(Job(R"({"state":{"phase":"Completed","lastTransitionTime":"2026-01-01T12:00:00Z"},
              "conditions":[{"status":"Running","lastTransitionTime":"2026-01-01T10:00:00Z"}]})"),
               {Group("[]"), Pod("0", "a1", "Succeeded")});
  EXPECT_EQ(job.state, JobState::kFinished);
  EXPECT_EQ(job.domain, "leaf-a");
  EXPECT_EQ(TimeOf(job, At("23:00:00")), std::chrono::hours(2));
}

TEST(LastEvents, AreOfTheJobAndTheNewestComeLast) {
  const auto event =
      [](const std::string& name, const std::string& about, const std::string& time) {
        return Object("ml",
                      name,
                      R"({"kind":"Event","involvedObject":{"kind":"Pod","name":")" + about +
                          R"("},"lastTimestamp":")" + time + R"(","type":"Normal","reason":")" +
                          name + R"(","message":"m","count":2})");
      };
  const auto events = LastEvents({event("c", "train-0", "2026-01-01T00:00:03Z"),
                                  event("b", "other", "2026-01-01T00:00:02Z"),
                                  event("a", "train-0", "2026-01-01T00:00:01Z"),
                                  event("d", "train-0", "2026-01-01T00:00:02Z"),
                                  Object("ml", "x", "{\"involvedObject\":3}"),
                                  Object("ml", "y", "[")},
                                 {"train-0"},
                                 2);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].reason, "d");
  EXPECT_EQ(events[1].reason, "c");
  EXPECT_EQ(events[1].object, "Pod train-0");
}

TEST(HistoryOf, HasWhatWasSaidOfThisJobAndItsPodGroupAndNotOfItsPods) {
  const auto event = [](const std::string& about, const std::string& minute) {
    return Object("ml",
                  "e" + minute,
                  R"({"kind":"Event","involvedObject":{)" + about +
                      R"(},"firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":)" +
                      "\"2026-01-01T00:" + minute + R"(:00Z","type":"Warning","count":3,)" +
                      R"("reason":"Unschedulable","message":"m)" + minute + "\"}");
  };
  JobReport job;
  job.key = {"ml", "train"};
  job.uid = "u2";
  job.group = "train-u2";
  const auto history = HistoryOf(job,
                                 {event(R"("kind":"PodGroup","name":"train-u2")", "05"),
                                  event(R"("kind":"Job","name":"train","uid":"u2")", "04"),
                                  event(R"("kind":"Job","name":"train","uid":"u1")", "06"),
                                  event(R"("kind":"Pod","name":"train-worker-0")", "07"),
                                  event(R"("kind":"PodGroup","name":"train-u2")", "03")},
                                 2);
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].message, "m04");
  EXPECT_EQ(history[1].message, "m05");
  EXPECT_EQ(history[1].first, At("00:00:00"));
  EXPECT_EQ(history[1].last, At("00:05:00"));
}

JobReport WaitingJob() {
  JobReport job;
  job.key = {"ml", "train"};
  job.phase = "Pending";
  job.queue = "gpu";
  job.total = 4;
  job.gpus = Quantity::FromValue(2000);
  job.created = At("10:00:00");
  job.reason = "NotEnoughResources";
  job.message = "needs\x1b[31m 4";
  return job;
}

TEST(RenderJob, HasTheHistoryOnceAndTheLastEventsOfItsPods) {
  EventLine said;
  said.first = At("10:00:05");
  said.last = At("10:01:05");
  said.type = "Warning";
  said.reason = "Unschedulable";
  said.object = "PodGroup train-1";
  said.message = "no room";
  said.count = 3;
  EventLine of_pod = said;
  of_pod.object = "Pod train-0";
  const std::string text =
      RenderJob(WaitingJob(), {.history = {said}, .last = {said, of_pod}}, At("10:02:05"), {});
  EXPECT_THAT(text,
              testing::EndsWith("\nFIRST  LAST  COUNT  HISTORY        OBJECT\n"
                                "   2m   60s      3  Unschedulable  PodGroup train-1\n"
                                "    no room\n"
                                "\nAGE  TYPE     REASON         COUNT  OBJECT\n"
                                "60s  Warning  Unschedulable      3  Pod train-0\n"
                                "    no room\n"));
  EXPECT_THAT(RenderJobJson(WaitingJob(), {.history = {said}, .last = {}}),
              HasSubstr("\"first\": \"2026-01-01T10:00:05Z\""));
}

TEST(RenderJobList, IsAligned) {
  EXPECT_EQ(RenderJobList({WaitingJob()}, {.ns = true}, At("10:02:05"), {}),
            "NAMESPACE  JOB    QUEUE  PODS  GPUS  PHASE    TIME  DOMAIN  REASON\n"
            "ml         train  gpu     0/4  2000  Pending  2m5s  -       NotEnoughResources\n");
  EXPECT_EQ(RenderJobList({}, {}, Time{}, {}), "No jobs.\n");
}

TEST(RenderJobList, FitsATerminalOf80ColumnsAndShowsAllOnAWiderOne) {
  JobReport job = WaitingJob();
  job.key = {"computer-vision", "pytorch-distributed-training-of-a-large-model"};
  job.queue = "research-and-development";
  job.domain = "hypernode-racks-tier1-9hkx2";
  job.shares_gpus = true;
  TextStyle style{.colour = false, .width = 80, .fit = true};
  const std::string narrow = RenderJobList({job}, {.ns = true}, At("10:02:05"), style);
  EXPECT_EQ(narrow,
            "NAMESPACE  JOB       QUEUE   PODS         GPUS  PHASE    TIME  DOMAIN   REASON\n"
            "computer…  pytorch…  resea…   0/4  2000 shared  Pending  2m5s  hypern…  NotEnou…\n");
  style.width = 200;
  const std::string wide = RenderJobList({job}, {.ns = true}, At("10:02:05"), style);
  EXPECT_EQ(wide, RenderJobList({job}, {.ns = true}, At("10:02:05"), {}));
}

TEST(RenderJobList, WideHasTheMessageWithoutControlCharacters) {
  const std::string text = RenderJobList({WaitingJob()}, {.wide = true}, At("10:02:05"), {});
  EXPECT_THAT(text, HasSubstr("OWNER  MESSAGE\n"));
  JobReport third = WaitingJob();
  third.rank = 3;
  EXPECT_THAT(RenderJobList({third}, {.wide = true}, At("10:02:05"), {}),
              HasSubstr("  NotEnoughResources     3     -  "));
  EXPECT_THAT(RenderJobListJson({third}), HasSubstr("\"rank\": 3"));
  EXPECT_THAT(text, testing::EndsWith("  -      needs [31m 4\n"));
}

TEST(RenderJobList, AFailedJobShowsItsExitCode) {
  JobReport job = WaitingJob();
  job.state = JobState::kFinished;
  job.phase = "Failed";
  job.reason = "";
  job.exit_code = 137;
  EXPECT_THAT(RenderJobList({job}, {}, Time{}, {}), HasSubstr("  exit code 137\n"));
}

TEST(RenderJobList, CallsPodsWithoutAPodGroupByTheirOwner) {
  JobReport group = WaitingJob();
  group.kind = JobReport::Kind::kPodGroup;
  group.key.name = "podgroup-98e67d25-c8de-4029-9f41-9e10668490cd";
  group.owner = "ReplicaSet/web";
  EXPECT_THAT(RenderJobList({group}, {}, Time{}, {}), HasSubstr("\nReplicaSet/web  gpu "));
}

TEST(RenderJobList, NamesAreThoseOfKubectl) {
  JobReport group = WaitingJob();
  group.kind = JobReport::Kind::kPodGroup;
  group.key.name = "ray";
  EXPECT_EQ(RenderJobNames({WaitingJob(), group}),
            "job.batch.volcano.sh/train\npodgroup.scheduling.volcano.sh/ray\n");
}

TEST(RenderJobList, JsonAndYamlHaveTheSameKeys) {
  const std::string json = RenderJobListJson({WaitingJob()});
  for (const char* key :
       {"namespace",    "name",      "phase", "queue",   "podGroup", "ready",   "total",
        "minAvailable", "hyperNode", "tier",  "created", "reason",   "message", "kind",
        "owner",        "state",     "gpus",  "started", "finished", "nodes"}) {
    EXPECT_THAT(json, HasSubstr(std::string("\"") + key + "\":"));
    EXPECT_THAT(RenderJobListYaml({WaitingJob()}), HasSubstr(std::string(key) + ":"));
  }
  EXPECT_THAT(json, HasSubstr("\"total\": 4"));
}

}  // namespace
}  // namespace strata::inspect
