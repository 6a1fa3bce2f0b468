// What explain says about jobs of a running cluster, where controllers have yet to make pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/explain.h"
#include "explain/render_explain.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Source = ExplainQuery::Source;

Explanation ExplainAs(Source source, const std::string& manifests, const std::string& name) {
  objects::ObjectSet objects = objects::MustLoad(manifests);
  const objects::MakesPods makes =
      source == Source::kRunningCluster ? MakesUpPods(objects, name) : objects::MakesPods();
  const CompletedObjects completed = CompleteObjects(std::move(objects), IsOurs, makes).value();
  const LoadedCluster cluster = LoadCompleted(completed).value();
  const SchedulerConfig config = DefaultSchedulerConfig();
  ExplainQuery query;
  query.objects = &completed;
  query.config = &config;
  query.source = source;
  return ExplainSubject(query, FindSubject(completed, name).value(), *cluster.state).value();
}

std::string GroupOf(const std::string& job, int pods, int minimum, const std::string& phase) {
  return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: " + job +
         "-" + job + "}\nspec: {minMember: " + std::to_string(minimum) +
         ", minResources: {cpu: " + std::to_string(8 * pods) + "}}\nstatus: {phase: " + phase +
         "}\n---\n";
}

// Pods that take a node each, from `node` on; `count` beyond the last node have none.
std::string PodsOf(const std::string& job, int count, int nodes, const std::string& scheduler) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text +=
        "apiVersion: v1\nkind: Pod\nmetadata: {name: " + job + "-w-" + std::to_string(i) +
        ", annotations: {scheduling.k8s.io/group-name: " + job + "-" + job +
        "}}\nspec: {schedulerName: " + scheduler + ", " +
        (i < nodes ? "nodeName: node" + std::to_string(i) + ", " : "") +
        "containers: [{name: c, image: i, resources: {requests: {cpu: 8}}}]}\nstatus: {phase: " +
        (i < nodes ? "Running" : "Pending") + "}\n---\n";
  }
  return text;
}

// All eight nodes are taken, and five jobs wait outside their queue, without pods.
std::string FullAndFiveWait() {
  std::string text = EightNodes("cpu: 8, pods: 99") + GangOf("full", 8, "cpu: 8", "") +
                     GroupOf("full", 8, 8, "Running") + PodsOf("full", 8, 8, "volcano");
  for (const auto& [name, pods] :
       std::map<std::string, int>{{"w1", 2}, {"w2", 4}, {"w3", 1}, {"w4", 2}, {"w5", 6}}) {
    text += GangOf(name, pods, "cpu: 8", "") + GroupOf(name, pods, pods, "Pending");
  }
  return text;
}

TEST(ExplainRunningCluster, NamesAllThatWouldStartAsASnapshotDoes) {
  for (const std::string job : {"default/w1", "default/w2", "default/w4", "default/w5"}) {
    const Explanation live = ExplainAs(Source::kRunningCluster, FullAndFiveWait(), job);
    ASSERT_TRUE(live.line.has_value()) << job;
    EXPECT_THAT(live.line->starts, ElementsAre("default/w1-w1", "default/w2-w2", "default/w3-w3"))
        << job;
    EXPECT_EQ(live.line, ExplainAs(Source::kManifests, FullAndFiveWait(), job).line) << job;
  }
}

TEST(ExplainRunningCluster, AJobThatRunsWithLessThanAllItsPodsEndsWithTheOthers) {
  std::string full = GangOf("full", 10, "cpu: 8", "");
  full.replace(full.find("minAvailable: 10"), 16, "minAvailable: 1");
  const std::string text = EightNodes("cpu: 8, pods: 99") + full +
                           GroupOf("full", 1, 1, "Running") + PodsOf("full", 10, 8, "volcano") +
                           GangOf("w1", 2, "cpu: 8", "") + GroupOf("w1", 2, 2, "Pending");
  const Explanation story = ExplainAs(Source::kRunningCluster, text, "default/w1");
  ASSERT_TRUE(story.line.has_value());
  EXPECT_THAT(story.line->starts, ElementsAre("default/w1-w1"));
}

TEST(ExplainRunningCluster, SaysThatAJobWithItsMinimumRunsAndThatTheRestWaits) {
  std::string part = GangOf("part", 10, "cpu: 8", "");
  part.replace(part.find("minAvailable: 10"), 16, "minAvailable: 1");
  const std::string text = EightNodes("cpu: 8, pods: 99") + part +
                           GroupOf("part", 1, 1, "Running") + PodsOf("part", 10, 8, "volcano");
  for (const Source source : {Source::kRunningCluster, Source::kManifests}) {
    const std::vector<std::string> lines = ExplainLines(ExplainAs(source, text, "default/part"));
    EXPECT_THAT(lines.front(),
                StartsWith("default/part runs with 8 of its 10 pods (at least 1 needed); 2 wait "
                           "(ClusterFull): 2/10 tasks unschedulable: "));
    EXPECT_THAT(lines.back(), StartsWith("  no single change would let the rest start ("));
  }
}

TEST(ExplainRunningCluster, OfAJobWhoseClassIsMissingSaysThatFirstAndHowToCreateIt) {
  std::string job = GangOf("t", 2, "cpu: 8", "");
  job.insert(job.find("  minAvailable"), "  priorityClassName: nope\n");
  for (const std::string phase : {"Pending", "Inqueue"}) {
    const std::vector<std::string> lines =
        ExplainLines(ExplainAs(Source::kRunningCluster,
                               EightNodes("cpu: 8, pods: 99") + job + GroupOf("t", 2, 2, phase),
                               "default/t"));
    EXPECT_THAT(lines,
                ElementsAre("default/t waits (PriorityClassNotFound): PriorityClass \"nope\" does "
                            "not exist, so its 2 pods cannot be created",
                            "  create PriorityClass nope:",
                            "    kubectl create priorityclass nope --value=0"))
        << phase;
  }
}

TEST(ExplainRunningCluster, OfAJobThatNoSchedulerServesNamesTheScheduler) {
  std::string job = GangOf("t", 1, "cpu: 8", "");
  job.insert(job.find("  minAvailable"), "  schedulerName: volcanoo\n");
  const std::vector<std::string> lines =
      ExplainLines(ExplainAs(Source::kRunningCluster,
                             EightNodes("cpu: 8, pods: 99") + job + GroupOf("t", 1, 1, "Inqueue") +
                                 PodsOf("t", 1, 0, "volcanoo"),
                             "default/t"));
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(lines[0],
            "default/t waits (SchedulerNotFound): no scheduler serves schedulerName \"volcanoo\" "
            "of its pod (served here: volcano, strata, default-scheduler, hami-scheduler)");
  EXPECT_EQ(lines[1], "  set schedulerName: volcano (restarts the job):");
  EXPECT_THAT(lines[2], HasSubstr("\"/spec/schedulerName\",\"value\":\"volcano\""));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("0 pods exist"))));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("no single change"))));
}

// What else keeps the job back is told, too.
TEST(ExplainRunningCluster, BehindAnObstacleTellsOfTheFullQueue) {
  std::string job = GangOf("t", 2, "cpu: 8", "");
  job.insert(job.find("  minAvailable"), "  priorityClassName: nope\n");
  const std::vector<std::string> lines =
      ExplainLines(ExplainAs(Source::kRunningCluster,
                             FullAndFiveWait() + job + GroupOf("t", 2, 2, "Pending"),
                             "default/t"));
  EXPECT_THAT(lines, Contains(StartsWith("  apart from that it waits (ClusterFull): ")));
  EXPECT_THAT(ExplainAs(Source::kRunningCluster,
                        FullAndFiveWait() + job + GroupOf("t", 2, 2, "Pending"),
                        "default/w1")
                  .line->starts,
              ElementsAre("default/w1-w1", "default/w2-w2"))
      << "nobody can make the pods of the other, though its queue keeps room for them";
}

TEST(ExplainRunningCluster, OfAPodThatIsYetToBeMadeSaysSo) {
  EXPECT_EQ(
      ExplainLines(ExplainAs(Source::kRunningCluster, FullAndFiveWait(), "default/w2-w-1")).front(),
      "Pod default/w2-w-1 does not exist yet.");
}

TEST(SaysNothingNew, OfWhatTheSentenceSays) {
  Explanation story;
  story.outcome.reason = "ClusterFull";
  story.outcome.message = "queue default: 16 requested";
  EXPECT_TRUE(SaysNothingNew(story, "Unschedulable", "queue default: 16 requested, 56 in use"));
  EXPECT_TRUE(SaysNothingNew(
      story, "PodGroupPending", "PodGroup default:w1 unschedule,reason: queue default: 4"));
  EXPECT_TRUE(SaysNothingNew(story, "Other", "because queue default: 16 requested"));
  EXPECT_FALSE(SaysNothingNew(story, "FailedCreate", "pods \"w1-0\" is forbidden: exceeded quota"));
  story.obstacles = {{.reason = "PriorityClassNotFound",
                      .message = "",
                      .advice = "",
                      .command = {},
                      .name = "nope"}};
  EXPECT_TRUE(SaysNothingNew(
      story, "FailedCreate", "pods \"w1-0\" is forbidden: no PriorityClass with name nope"));
}

}  // namespace
}  // namespace strata
