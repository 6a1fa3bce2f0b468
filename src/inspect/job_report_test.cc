#include "inspect/job_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspect/render_jobs.h"

namespace strata::inspect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

JobReport ReportOf(const ListedObject& job, std::vector<ListedObject> others) {
  const std::vector<ListedObject> network = Network();
  others.insert(others.end(), network.begin(), network.end());
  std::vector<std::string> warnings;
  const auto reports = MakeJobReports({{job}, std::move(others)}, warnings);
  EXPECT_TRUE(reports) << reports.error().message;
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(reports->size(), 1U);
  return reports->front();
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

TEST(RenderJobList, IsAlignedAndEscapesControlCharacters) {
  JobReport job;
  job.key = {"ml", "train"};
  job.phase = "Pending";
  job.queue = "gpu";
  job.total = 4;
  job.reason = "NotEnoughResources";
  job.message = "needs\x1b[31m 4";
  EXPECT_EQ(RenderJobList({job}, NamespaceColumn::kShow, Time{}, {}),
            "NAMESPACE  JOB    PHASE    QUEUE  READY  DOMAIN  TIER  AGE  REASON\n"
            "ml         train  Pending  gpu      0/4  -          -    -  NotEnoughResources\n"
            "    needs [31m 4\n");
  EXPECT_EQ(RenderJobList({}, NamespaceColumn::kShow, Time{}, {}), "No jobs.\n");
  EXPECT_THAT(RenderJobListJson({job}), HasSubstr("\"total\": 4"));
}

}  // namespace
}  // namespace strata::inspect
