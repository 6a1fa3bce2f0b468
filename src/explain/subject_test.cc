#include "explain/subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/own_names.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

using testing::ElementsAre;

CompletedObjects Complete(const std::string& manifests) {
  return CompleteObjects(objects::MustLoad(manifests)).value();
}

// A pod of the ReplicaSet web-5f6, which a Deployment made; `node` is "" while it waits.
std::string WebPod(const std::string& name, const std::string& node) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", uid: " + name +
         ", labels: {pod-template-hash: 5f6}, ownerReferences: [{apiVersion: apps/v1, kind: "
         "ReplicaSet, name: web-5f6, uid: r, controller: true}]}\nspec: {schedulerName: volcano, " +
         (node.empty() ? "" : "nodeName: " + node + ", ") +
         "containers: [{name: c, image: i}]}\n---\n";
}

TEST(FindSubject, AJobIsFoundByItsOwnNameAndByThatOfItsPodGroup) {
  const CompletedObjects objects = Complete(EightNodes("cpu: 1") + GangOf("t", 2, "cpu: 1", ""));
  EXPECT_EQ(FindSubject(objects, "default/t").value(),
            (Subject{"Job", "default/t", {"default/t-t"}}));
  EXPECT_EQ(FindSubject(objects, "default/t-t").value(),
            (Subject{"PodGroup", "default/t-t", {"default/t-t"}}));
}

TEST(FindSubject, APodIsExplainedByItsPodGroup) {
  const CompletedObjects objects = Complete(EightNodes("cpu: 1") + GangOf("t", 2, "cpu: 1", ""));
  EXPECT_EQ(FindSubject(objects, "default/t-w-1").value(),
            (Subject{"Pod", "default/t-w-1", {"default/t-t"}}));
}

TEST(FindSubject, ADeploymentIsFoundByItsPodsAndWhatWaitsComesFirst) {
  const CompletedObjects objects = Complete(WebPod("a", "node0") + WebPod("b", ""));
  EXPECT_EQ(FindSubject(objects, "default/web").value(),
            (Subject{"Deployment", "default/web", {"default/podgroup-b", "default/podgroup-a"}}));
}

TEST(FindSubject, AReplicaSetMeansItsDeployment) {
  const CompletedObjects objects = Complete(WebPod("a", "node0"));
  const Subject web{"Deployment", "default/web", {"default/podgroup-a"}};
  EXPECT_EQ(FindSubject(objects, "default/web-5f6").value(), web);
  EXPECT_EQ(FindSubject(objects, "default/web-5f6", "ReplicaSet").value(), web);
  EXPECT_EQ(FindSubject(objects, "default/web", "Deployment").value(), web);
}

TEST(FindSubject, WithAKindTakesNoOther) {
  const CompletedObjects objects =
      Complete(EightNodes("cpu: 1") + GangOf("t", 2, "cpu: 1", "") + WebPod("t", ""));
  EXPECT_EQ(FindSubject(objects, "default/t").value().kind, "Job");
  EXPECT_EQ(FindSubject(objects, "default/t", "Pod").value().kind, "Pod");
  EXPECT_FALSE(FindSubject(objects, "default/t-t", "Job").has_value());
}

TEST(FindSubject, AJobThatHasEndedIsFoundAndHasNoPodGroup) {
  const CompletedObjects objects =
      Complete(GangOf("t", 2, "cpu: 1", "").substr(0, GangOf("t", 2, "cpu: 1", "").size() - 4) +
               "status: {state: {phase: Completed}}\n");
  EXPECT_EQ(FindSubject(objects, "default/t").value(), (Subject{"Job", "default/t", {}}));
}

TEST(FindSubject, AnUnknownNameIsOneLineWithTheNearestNamesOfPeople) {
  const CompletedObjects objects = Complete(
      EightNodes("cpu: 1") + GangOf("train", 1, "cpu: 1", "") + GangOf("serve", 1, "cpu: 1", ""));
  EXPECT_EQ(FindSubject(objects, "default/trian").error().message,
            "no Job, PodGroup, pod or Deployment default/trian: nearest is default/train");
  EXPECT_EQ(FindSubject(objects, "default/train-w-1").error().message,
            "no Job, PodGroup, pod or Deployment default/train-w-1: nearest are "
            "default/train-w-0, default/train");
  EXPECT_EQ(FindSubject(objects, "default/zzz", "Pod").error().message,
            "no Pod default/zzz: \"strata job list -A\" shows what there is");
  EXPECT_EQ(FindSubject(Complete(EightNodes("cpu: 1")), "a/b").error().message,
            "no Job, PodGroup, pod or Deployment a/b: there are none");
}

// The Jobs among these manifests that would be given pods.
std::vector<std::string> MadeUpFor(const std::string& manifests, const std::string& name) {
  const objects::ObjectSet objects = objects::MustLoad(manifests);
  const objects::MakesPods makes = MakesUpPods(objects, name);
  std::vector<std::string> jobs;
  for (const objects::Job& job : objects.jobs) {
    if (makes(job)) jobs.push_back(job.meta.name);
  }
  return jobs;
}

TEST(MakesUpPods, OfAllJobsThatTheirQueueHasNotAdmitted) {
  const auto group = [](const std::string& name, const std::string& phase) {
    return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: " + name +
           "}\nspec: {minMember: 2}\nstatus: {phase: " + phase + "}\n---\n";
  };
  const std::string jobs = GangOf("a", 2, "cpu: 1", "") + GangOf("b", 2, "cpu: 1", "") +
                           GangOf("c", 2, "cpu: 1", "") + group("b-b", "Pending") +
                           group("c-c", "Inqueue");
  EXPECT_THAT(MadeUpFor(jobs, "default/a"), ElementsAre("a", "b"));
  EXPECT_THAT(MadeUpFor(jobs, "default/c"), ElementsAre("a", "b"));
}

TEST(MakesUpPods, NotWhereTheirClassIsMissingUnlessTheJobIsAskedAbout) {
  std::string job = GangOf("t", 2, "cpu: 1", "");
  job.insert(job.find("  minAvailable"), "  priorityClassName: nope\n");
  EXPECT_THAT(MadeUpFor(job, "default/other"), ElementsAre());
  EXPECT_THAT(MadeUpFor(job, "default/t"), ElementsAre("t"));
  EXPECT_THAT(MadeUpFor(job, "default/t-t"), ElementsAre("t"));
}

TEST(OwnNames, PodGroupsAreCalledByWhatTheyWereMadeFor) {
  const CompletedObjects objects = Complete(GangOf("t", 2, "cpu: 1", "") + WebPod("a", ""));
  const OwnNames own(objects);
  EXPECT_EQ(own.Of("default/t-t"), "default/t");
  EXPECT_EQ(own.Of("default/podgroup-a"), "default/a");
  EXPECT_EQ(own.Of("default/written"), "default/written");
}

}  // namespace
}  // namespace strata
