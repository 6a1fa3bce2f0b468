#include "explain/line.h"

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

// Room for one pod, which "running" has; three more want it, and one wants more than there is.
std::string Crowd() {
  const auto pod = [](const std::string& name, const std::string& rest, const std::string& status) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           ", namespace: default, creationTimestamp: 2026-01-01T00:00:0" + rest +
           "schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: {cpu: " +
           (name == "large" ? "9" : "2") + "}}}]}" + status + "\n---\n";
  };
  return "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: "
         "100\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n0}\nstatus: {allocatable: {cpu: "
         "4, pods: 10}}\n---\n" +
         pod("running", "1Z}\nspec: {nodeName: n0, ", "\nstatus: {phase: Running}") +
         pod("older", "0Z}\nspec: {nodeName: n0, ", "\nstatus: {phase: Running}") +
         pod("third", "3Z}\nspec: {", "") + pod("second", "2Z}\nspec: {", "") +
         pod("first", "4Z}\nspec: {priorityClassName: high, ", "") +
         pod("large", "1Z}\nspec: {", "");
}

Explanation ExplainPod(const std::string& manifests, const std::string& name) {
  const CompletedObjects completed = CompleteObjects(objects::MustLoad(manifests)).value();
  const SchedulerConfig config = DefaultSchedulerConfig();
  const LoadedCluster cluster = LoadCompleted(completed).value();
  ExplainQuery query;
  query.objects = &completed;
  query.config = &config;
  return ExplainSubject(query, FindSubject(completed, name).value(), *cluster.state).value();
}

TEST(Line, IsInTheOrderOfTheTurnsAndSaysWhoIsBefore) {
  const Explanation story = ExplainPod(Crowd(), "default/second");
  ASSERT_TRUE(story.line.has_value());
  EXPECT_THAT(story.line->jobs,
              ElementsAre("default/podgroup-first",
                          "default/podgroup-large",
                          "default/podgroup-second",
                          "default/podgroup-third"));
  EXPECT_EQ(story.line->position, 3U);
  EXPECT_THAT(story.line->starts, ElementsAre("default/podgroup-first", "default/podgroup-second"))
      << "the large one does not fit, and what starts first leaves no room for the third";
}

TEST(Line, IsToldInTwoSentencesWithTheNamesOfPeople) {
  const std::vector<std::string> lines = ExplainLines(ExplainPod(Crowd(), "default/third"));
  EXPECT_THAT(lines,
              Contains("  number 4 of the 4 jobs that wait in queue default; before it: "
                       "default/first, default/large, default/second"));
  EXPECT_THAT(lines,
              Contains("  if all that runs ended now, these would start: default/first, "
                       "default/second"));
  const std::string json = RenderJson(ExplainPod(Crowd(), "default/first"));
  EXPECT_THAT(json, HasSubstr("\"position\": 1"));
  EXPECT_THAT(json, HasSubstr("\"before\": []"));
}

TEST(Line, IsNotWorthALineWhereTheJobIsAlone) {
  const Explanation story =
      ExplainPod(EightNodes("cpu: 1") + GangOf("gang", 9, "cpu: 1", ""), "default/gang");
  ASSERT_TRUE(story.line.has_value());
  EXPECT_EQ(story.line->position, 1U);
  EXPECT_THAT(ExplainLines(story), Not(Contains(HasSubstr("that wait in queue"))));
}

TEST(Line, IsNoneForAJobWhoseQueueDoesNotExist) {
  std::string job = GangOf("gang", 1, "cpu: 1", "");
  job.replace(job.find("spec:\n"), 6, "spec:\n  queue: absent\n");
  EXPECT_EQ(ExplainPod(EightNodes("cpu: 1") + job, "default/gang").line, std::nullopt);
}

}  // namespace
}  // namespace strata
