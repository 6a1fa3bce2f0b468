#include "explain/relaxations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/explain.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Node(const std::string& name, const std::string& spec = "", int cpu = 4) {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: " + name +
         ", labels: {disk: ssd}}\nspec: {" + spec +
         "}\nstatus: {allocatable: {cpu: " + std::to_string(cpu) + ", pods: 10}}\n---\n";
}

std::string Pod(const std::string& name, int cpu, const std::string& spec = "") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: default}\nspec: {" +
         spec + (spec.empty() ? "" : ", ") +
         "schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: {cpu: " +
         std::to_string(cpu) + "}}}]}\n---\n";
}

// What would help the job: kind, field and new value of each, in order.
std::vector<std::string> Help(const std::string& manifests, const std::string& job) {
  const CompletedObjects completed = CompleteObjects(objects::MustLoad(manifests)).value();
  const SchedulerConfig config = DefaultSchedulerConfig();
  const auto story = ExplainJob(
      {.objects = &completed, .config = &config, .options = {}, .job = job, .progress = nullptr});
  EXPECT_TRUE(story && story->relaxations) << "the job does not wait";
  std::vector<std::string> texts;
  if (!story || !story->relaxations) return texts;
  for (const Relaxation& relaxation : story->relaxations->found) texts.push_back(relaxation.text);
  return texts;
}

TEST(Relaxations, AGateIsRemoved) {
  EXPECT_THAT(
      Help(Node("n0") + Pod("p", 1, "schedulingGates: [{name: a/b}]"), "default/podgroup-p"),
      ElementsAre("remove the scheduling gates of its pod"));
}

TEST(Relaxations, OneNodeIsUncordonedWhereOneIsEnough) {
  EXPECT_THAT(
      Help(Node("n0", "unschedulable: true", 1) + Node("n1", "unschedulable: true") + Pod("p", 2),
           "default/podgroup-p"),
      ElementsAre("uncordon node n1"));
}

TEST(Relaxations, AsFewNodesAsAreNeededAreUncordoned) {
  std::string nodes;
  for (int i = 0; i < 5; ++i) nodes += Node("n" + std::to_string(i), "unschedulable: true");
  EXPECT_THAT(Help(nodes + GangOf("gang", 3, "cpu: 4", ""), "default/gang-gang"),
              ElementsAre("uncordon 3 nodes: n0, n1, n2"));
}

TEST(Relaxations, NodesThatAreNotReadyBecomeReady) {
  EXPECT_THAT(Help("apiVersion: v1\nkind: Node\nmetadata: {name: n0}\nstatus: {allocatable: "
                   "{cpu: 4}, conditions: [{type: Ready, status: \"False\"}]}\n---\n" +
                       Pod("p", 1),
                   "default/podgroup-p"),
              ElementsAre("with node n0 ready again"));
}

TEST(Relaxations, ATaintIsToleratedOnlyIfThatAloneHelps) {
  const std::string one = "taints: [{key: team, value: red, effect: NoSchedule}]";
  const std::string two =
      "taints: [{key: team, value: red, effect: NoSchedule}, {key: old, effect: "
      "NoExecute}]";
  EXPECT_THAT(Help(Node("n0", one) + Pod("p", 1), "default/podgroup-p"),
              ElementsAre("tolerate the taint team=red:NoSchedule"));
  EXPECT_THAT(Help(Node("n0", two) + Pod("p", 1), "default/podgroup-p"), IsEmpty());
}

TEST(Relaxations, OneSelectorOrAffinityTermIsDropped) {
  EXPECT_THAT(
      Help(Node("n0") + Pod("p", 1, "nodeSelector: {disk: ssd, zone: a}"), "default/podgroup-p"),
      ElementsAre("drop nodeSelector zone=a"));
  EXPECT_THAT(
      Help(Node("n0") +
               Pod("p",
                   1,
                   "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                   "{nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: "
                   "[a]}, "
                   "{key: disk, operator: Exists}]}]}}}"),
           "default/podgroup-p"),
      ElementsAre("drop nodeAffinity zone=a"));
}

std::string Queue(const std::string& name, const std::string& spec, const std::string& state = "") {
  return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " + name +
         "}\nspec: {" + spec + "}\n" + (state.empty() ? "" : "status: {state: " + state + "}\n") +
         "---\n";
}

std::string InQueue(const std::string& job, const std::string& queue) {
  std::string text = job;
  return text.replace(text.find("spec:\n"), 6, "spec:\n  queue: " + queue + "\n");
}

TEST(Relaxations, AQueueLimitIsRaisedToWhatTheQueueComesToHold) {
  EXPECT_THAT(Help(Node("n0", "", 16) + Queue("small", "capability: {cpu: 5}") +
                       InQueue(GangOf("gang", 3, "cpu: 2", ""), "small"),
                   "default/gang-gang"),
              ElementsAre("raise spec.capability.cpu of Queue small from 5 to 6",
                          "start with 2 pods instead of 3: spec.minAvailable 2"));
}

TEST(Relaxations, WhatAControllerKeepsIsChangedAtItsOwner) {
  const auto group = [](const std::string& owner) {
    return "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata:\n"
           "  name: g\n  namespace: default\n" +
           owner + "spec: {minMember: 3}\n" + "---\n";
  };
  const auto pods = [] {
    std::string text;
    for (const char* name : {"a", "b", "c"}) {
      text +=
          std::string("---\napiVersion: v1\nkind: Pod\nmetadata:\n  namespace: default\n  name: ") +
          name +
          "\n  annotations: {scheduling.k8s.io/group-name: g}\n"
          "spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}\n";
    }
    return text;
  };
  EXPECT_THAT(Help(Node("n0", "", 4) + group("") + pods(), "default/g"),
              ElementsAre("start with 2 pods instead of 3: spec.minMember 2"));
  EXPECT_THAT(
      Help(Node("n0", "", 4) +
               group("  ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, "
                     "name: j, uid: u, controller: true}]\n") +
               pods(),
           "default/g"),
      ElementsAre("start with 2 pods instead of 3: spec.minAvailable 2"));
}

TEST(Relaxations, AClosedQueueIsOpened) {
  EXPECT_THAT(Help(Node("n0") + Queue("shut", "weight: 1", "Closed") +
                       InQueue(GangOf("gang", 1, "cpu: 2", ""), "shut"),
                   "default/gang-gang"),
              ElementsAre("open queue shut"));
}

TEST(Relaxations, AWeightIsRaisedAsLittleAsNeeded) {
  //   8 cpu; both queues want all of it; "light" has weight 1 of 4 and so a share of 2, but needs 4
  const std::string heavy = InQueue(GangOf("heavy", 8, "cpu: 1", ""), "heavy");
  std::string elastic = heavy;
  elastic.replace(elastic.find("minAvailable: 8"), 15, "minAvailable: 1");
  EXPECT_THAT(Help(Node("n0", "", 8) + Queue("heavy", "weight: 3") + Queue("light", "weight: 1") +
                       elastic + InQueue(GangOf("z", 4, "cpu: 1", ""), "light"),
                   "default/z-z"),
              ElementsAre("raise spec.weight of Queue light from 1 to 3",
                          "start with 2 pods instead of 4: spec.minAvailable 2",
                          "without job default/heavy (6 pods)"));
}

TEST(Relaxations, TheLowestTierThatWorksIsAllowed) {
  EXPECT_THAT(Help(EightNodes("cpu: 1") + GangOf("gang", 3, "cpu: 1", "highestTierAllowed: 1"),
                   "default/gang-gang"),
              ElementsAre("allow tier 2: spec.networkTopology.highestTierAllowed 2 instead of 1",
                          "start with 2 pods instead of 3: spec.minAvailable 2"));
  EXPECT_THAT(Help(EightNodes("cpu: 1") + Node("outside", "", 1) +
                       GangOf("gang", 9, "cpu: 1", "highestTierAllowed: 1"),
                   "default/gang-gang")
                  .front(),
              "let it span the whole cluster: spec.networkTopology.mode soft");
}

TEST(Relaxations, FewerPodsMeansAsManyAsFit) {
  EXPECT_THAT(Help(Node("n0", "", 7) + GangOf("gang", 20, "cpu: 1", ""), "default/gang-gang"),
              ElementsAre("start with 7 pods instead of 20: spec.minAvailable 7"));
}

TEST(Relaxations, NamesThePodsWhoseEndWouldHelp) {
  const auto on = [](const std::string& name, int cpu, const std::string& node) {
    std::string pod = Pod(name, cpu, "nodeName: " + node);
    return pod.replace(pod.rfind("---"), 3, "status: {phase: Running}\n---");
  };
  EXPECT_THAT(Help(Node("n0") + Node("n1") + on("a", 3, "n0") + on("b", 2, "n1") + Pod("p", 3),
                   "default/podgroup-p"),
              ElementsAre("without pod default/a", "without pod default/b"));
}

TEST(Relaxations, AnAffinityWhoseLastRequirementGoesBindsNothing) {
  EXPECT_THAT(
      Help(Node("n0") +
               Pod("p",
                   1,
                   "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                   "{nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Exists}]}]}}}"),
           "default/podgroup-p"),
      ElementsAre("drop nodeAffinity zone"));
}

TEST(Relaxations, AnActionThatEvictsIsNamedWithItsVictims) {
  EXPECT_THAT(Help(FullCluster(), "default/high"),
              ElementsAre("add the action gangpreempt: it would evict 1 gang, 1 pod of default/low",
                          "without job default/low (1 pod)"));
}

TEST(Relaxations, NoActionIsNamedThatWouldEvictNobody) {
  std::string equal = FullCluster();
  equal.replace(equal.find("value: 100"), 10, "value: 1");
  EXPECT_THAT(Help(equal, "default/high"), ElementsAre("without job default/low (1 pod)"));
}

}  // namespace
}  // namespace strata
