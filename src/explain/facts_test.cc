#include "explain/facts.h"

#include <gtest/gtest.h>

#include "base/timestamp.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

std::string TellOf(const std::string& manifests, const std::string& name) {
  const CompletedObjects objects = CompleteObjects(objects::MustLoad(manifests)).value();
  const LoadedCluster cluster = LoadCompleted(objects).value();
  const Subject subject = FindSubject(objects, name).value();
  const Time now = ParseTimestamp("2026-01-01T12:05:00Z").value();
  const auto told = TellWithoutRun(objects, *cluster.state, subject, now);
  return told ? told->sentence : "";
}

std::string Ended(const std::string& phase, const std::string& more = "") {
  std::string job = GangOf("t", 2, "cpu: 1", "");
  job.resize(job.size() - 4);  // "---\n"
  return job + "status: {state: {phase: " + phase +
         ", lastTransitionTime: " + "\"2026-01-01T12:00:00Z\"" + more +
         "}, conditions: [{status: Pending}, {status: Running, " +
         "lastTransitionTime: \"2026-01-01T10:00:00Z\"}, {status: Running, lastTransitionTime: " +
         "\"2026-01-01T11:00:00Z\"}]}\n---\n";
}

std::string PodOf(int index, const std::string& node) {
  const std::string number = std::to_string(index);
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: t-w-" + number +
         ", labels: {volcano.sh/job-name: t}}\nspec: {schedulerName: volcano, nodeName: " + node +
         ", containers: [{name: c, image: i}]}\nstatus: {phase: Succeeded}\n---\n";
}

TEST(TellWithoutRun, OfAFinishedJobSaysWhenAndWhereItRan) {
  EXPECT_EQ(
      TellOf(EightNodes("cpu: 4") + Ended("Completed") + PodOf(0, "node0") + PodOf(1, "node2"),
             "default/t"),
      "default/t completed 5m ago; it ran in s4 (tier 2) for 120m.");
  EXPECT_EQ(TellOf(Ended("Failed", ", message: \"too many retries\""), "default/t"),
            "default/t failed 5m ago; it ran for 120m: too many retries.");
  EXPECT_EQ(TellOf(PodOf(0, "gone") + Ended("Terminated"), "default/t"),
            "default/t was terminated 5m ago; it ran on gone for 120m.");
}

TEST(TellWithoutRun, OfASuspendedJobSaysHowToGoOn) {
  EXPECT_EQ(TellOf(Ended("Aborted"), "default/t"),
            "default/t was suspended 5m ago; it ran for 120m. \"strata job resume default/t\" "
            "starts it again.");
}

TEST(TellWithoutRun, OfAPodThatHasEndedSaysWhereItRan) {
  EXPECT_EQ(TellOf(EightNodes("cpu: 4") + PodOf(0, "node3"), "default/t-w-0"),
            "Pod default/t-w-0 succeeded; it ran in s1 (tier 1).");
}

TEST(TellWithoutRun, OfAnotherSchedulersPodNamesTheScheduler) {
  EXPECT_EQ(TellOf("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {schedulerName: "
                   "volcanoo, containers: [{name: c, image: i}]}\n",
                   "default/p"),
            "Pod default/p is left to another scheduler: schedulerName is volcanoo (served here: "
            "volcano, strata, default-scheduler, hami-scheduler).");
}

TEST(TellWithoutRun, LeavesAJobThatLivesToTheRun) {
  EXPECT_EQ(TellOf(GangOf("t", 2, "cpu: 1", ""), "default/t"), "");
}

TEST(FindReality, CountsOnlyPodsThatExist) {
  const std::string job = GangOf("t", 3, "cpu: 1", "");
  const std::string pod =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: t-w-0}\nspec: "
      "{schedulerName: volcano, containers: [{name: c, image: i}]}\n---\n";
  const CompletedObjects objects = CompleteObjects(objects::MustLoad(job + pod)).value();
  const Reality reality = FindReality(objects, "default/t-t");
  EXPECT_EQ(reality.phase, "Pending");
  EXPECT_EQ(reality.wanted, 3U);
  EXPECT_EQ(reality.needed, 3U);
  EXPECT_EQ(reality.exist, 1U);
  EXPECT_EQ(reality.placed, 0U);
}

TEST(TellSubject, SaysWhatAPodBelongsTo) {
  const CompletedObjects objects =
      CompleteObjects(objects::MustLoad(GangOf("t", 2, "cpu: 1", ""))).value();
  EXPECT_EQ(TellSubject(objects, FindSubject(objects, "default/t-w-0").value()),
            "Pod default/t-w-0 belongs to default/t and has no node.");
  EXPECT_EQ(TellSubject(objects, FindSubject(objects, "default/t").value()), "");
}

}  // namespace
}  // namespace strata
