#include "objects/expand_job.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/default_pod_group.h"
#include "objects/test_support.h"

namespace strata::objects {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr std::string_view kTrain = R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: team, uid: u1, labels: {l: x}, annotations: {a: why, volcano.sh/preemptable: "true"}}
spec:
  minAvailable: 3
  queue: research
  priorityClassName: high
  networkTopology: {mode: hard, highestTierAllowed: 2}
  tasks:
  - name: ps
    replicas: 1
    template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
  - name: worker
    replicas: 4
    minAvailable: 2
    partitionPolicy: {totalPartitions: 2, partitionSize: 2, minPartitions: 1, networkTopology: {mode: hard, highestTierAllowed: 1}}
    template:
      metadata: {labels: {app: w}, annotations: {note: text}}
      spec: {schedulerName: strata, containers: [{name: c, resources: {limits: {cpu: 2, nvidia.com/gpu: 8}}}]}
)";

std::vector<std::string> NamesOf(const auto& list) {
  std::vector<std::string> names;
  for (const auto& object : list) names.push_back(object.meta.name);
  return names;
}

ObjectSet Expanded(std::string text) {
  ObjectSet set = MustLoad(std::move(text));
  EXPECT_TRUE(ExpandJobs(set).has_value());
  return set;
}

TEST(ExpandJob, MakesThePodGroupOfTheJobController) {
  const ObjectSet set = Expanded(std::string(kTrain));
  ASSERT_THAT(set.pod_groups, SizeIs(1));
  const PodGroup& group = set.pod_groups[0];
  EXPECT_EQ(NamespacedName(group.meta), "team/train-u1");
  EXPECT_EQ(group.min_member, 3);
  EXPECT_THAT(group.min_task_member, ElementsAre(Pair("ps", 1), Pair("worker", 2)));
  EXPECT_EQ(group.queue, "research");
  EXPECT_EQ(group.priority_class_name, "high");
  EXPECT_EQ(group.topology, (NetworkTopology{TopologyMode::kHard, 2, ""}));
  EXPECT_THAT(group.meta.annotations, Contains(Pair("a", "why")));
  EXPECT_THAT(group.meta.labels, Contains(Pair("l", "x")));
  EXPECT_EQ(group.meta.owners.at(0).uid, "u1");
  ASSERT_THAT(group.sub_groups, SizeIs(1));
  EXPECT_EQ(group.sub_groups[0].name, "worker");
  EXPECT_EQ(group.sub_groups[0].sub_group_size, 2);
  EXPECT_EQ(group.sub_groups[0].min_sub_groups, 1);
  EXPECT_EQ(group.sub_groups[0].topology, (NetworkTopology{TopologyMode::kHard, 1, ""}));
  EXPECT_THAT(group.sub_groups[0].match_label_keys, ElementsAre("volcano.sh/partition-id"));
  EXPECT_EQ(ToString(*group.sub_groups[0].selector), "volcano.sh/task-spec=worker");
}

TEST(ExpandJob, NamesAndMarksThePods) {
  const ObjectSet set = Expanded(std::string(kTrain));
  EXPECT_THAT(
      NamesOf(set.pods),
      ElementsAre(
          "train-ps-0", "train-worker-0", "train-worker-1", "train-worker-2", "train-worker-3"));
  EXPECT_EQ(set.pods[0].spec.scheduler_name, "volcano");
  const Pod& pod = set.pods[3];
  EXPECT_EQ(pod.spec.scheduler_name, "strata");
  EXPECT_THAT(pod.meta.annotations,
              AllOf(Contains(Pair("scheduling.k8s.io/group-name", "train-u1")),
                    Contains(Pair("volcano.sh/task-index", "2")),
                    Contains(Pair("volcano.sh/task-spec", "worker")),
                    Contains(Pair("volcano.sh/job-name", "train")),
                    Contains(Pair("volcano.sh/queue-name", "research")),
                    Contains(Pair("volcano.sh/job-version", "0")),
                    Contains(Pair("volcano.sh/template-uid", "train-worker")),
                    Contains(Pair("volcano.sh/job-retry-count", "0")),
                    Contains(Pair("volcano.sh/preemptable", "true")),
                    Contains(Pair("note", "text"))));
  EXPECT_THAT(pod.meta.labels,
              ElementsAre(Pair("app", "w"),
                          Pair("volcano.sh/job-name", "train"),
                          Pair("volcano.sh/job-namespace", "team"),
                          Pair("volcano.sh/partition-id", "1"),
                          Pair("volcano.sh/queue-name", "research"),
                          Pair("volcano.sh/task-index", "2"),
                          Pair("volcano.sh/task-spec", "worker")));
  EXPECT_TRUE(pod.meta.owners.at(0).controller);
}

TEST(ExpandJob, MinResourcesTakeTheMinimumOfEachTaskByPriority) {
  //  minAvailable 3 = 1 ps + 2 workers
  const ObjectSet set = Expanded(std::string(kTrain));
  EXPECT_EQ(set.pod_groups[0].min_resources->at("cpu").ToString(), "5");
  EXPECT_EQ(set.pod_groups[0].min_resources->at("nvidia.com/gpu").ToString(), "16");

  //  minAvailable 2: the workers come first, they are more important
  const ObjectSet ordered = Expanded(R"(
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 10}
---
{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}, spec: {minAvailable: 2, tasks: [
 {name: a, replicas: 2, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}},
 {name: b, replicas: 2, minAvailable: 1, template: {spec: {priorityClassName: high, containers: [{name: c, resources: {requests: {cpu: 100}}}]}}}]}}
)");
  EXPECT_EQ(ordered.pod_groups[0].min_resources->at("cpu").ToString(), "101");
}

TEST(ExpandJob, MinResourcesHaveTheNamesOfQuotas) {
  //  1 ps with a request of 1 cpu, 2 workers with a limit of 2 cpu and 8 GPUs
  const ObjectSet set = Expanded(std::string(kTrain));
  std::vector<std::string> amounts;
  for (const auto& [name, amount] : *set.pod_groups[0].min_resources) {
    amounts.push_back(name + "=" + amount.ToString());
  }
  EXPECT_THAT(amounts,
              ElementsAre("count/pods=3",
                          "cpu=5",
                          "limits.cpu=4",
                          "nvidia.com/gpu=16",
                          "pods=3",
                          "requests.cpu=5",
                          "requests.nvidia.com/gpu=16"));
}

TEST(ExpandJob, PodsHaveThePriorityClassOfTheJobUnlessTheirTemplateNamesOne) {
  std::string text(kTrain);
  text.replace(text.find("schedulerName: strata"), 21, "priorityClassName: low");
  const ObjectSet set = Expanded(std::move(text));
  EXPECT_EQ(set.pods[0].spec.priority_class_name, "high");
  EXPECT_EQ(set.pods[1].spec.priority_class_name, "low");
}

TEST(ExpandJob, DefaultsAreThoseOfTheWebhook) {
  const ObjectSet set = Expanded(
      "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}, spec: {tasks: ["
      "{replicas: 2, template: {spec: {containers: [{name: c}]}}},"
      "{replicas: 4, partitionPolicy: {totalPartitions: 2, partitionSize: 2, minPartitions: 1},"
      " template: {spec: {containers: [{name: c}]}}}], plugins: {mpi: []}}}");
  const Job& job = set.jobs.at(0);
  EXPECT_EQ(job.queue, "default");
  EXPECT_EQ(job.max_retry, 3);
  EXPECT_EQ(job.min_available, 4);
  EXPECT_EQ(job.tasks[0].name, "default0");
  EXPECT_EQ(job.tasks[1].min_available, 2);
  EXPECT_TRUE(job.plugins.contains("svc") && job.plugins.contains("ssh"));
  EXPECT_EQ(set.pod_groups.at(0).meta.name, "j-j");
}

TEST(ExpandJob, WhatIsThereIsKept) {
  const std::string pod =
      "\n---\n{apiVersion: v1, kind: Pod, metadata: {name: train-ps-0, namespace: team}, spec: "
      "{nodeName: n7, containers: [{name: c}]}}";
  const std::string group =
      "\n---\n{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: NAME, "
      "namespace: team}, spec: {minMember: 9}}";
  std::string by_uid = group;
  by_uid.replace(by_uid.find("NAME"), 4, "train-u1");
  std::string by_name = group;
  by_name.replace(by_name.find("NAME"), 4, "train");

  const ObjectSet kept = Expanded(std::string(kTrain) + pod + by_uid);
  EXPECT_THAT(kept.pods, SizeIs(5));
  EXPECT_EQ(kept.pods[0].spec.node_name, "n7");
  ASSERT_THAT(kept.pod_groups, SizeIs(1));
  EXPECT_EQ(kept.pod_groups[0].min_member, 9);

  const ObjectSet adopted = Expanded(std::string(kTrain) + by_name);
  EXPECT_THAT(NamesOf(adopted.pod_groups), ElementsAre("train"));
  EXPECT_THAT(adopted.pods[1].meta.annotations,
              Contains(Pair("scheduling.k8s.io/group-name", "train")));
}

// Job `name` of one pod of one CPU, of task w.
std::string SmallJob(const std::string& meta, const std::string& memory = "1Gi") {
  return "\n---\n{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {" + meta +
         "}, spec: {tasks: [{name: w, replicas: 1, template: {spec: {containers: [{name: c, "
         "resources: {requests: {memory: " +
         memory + "}}}]}}}]}}";
}

std::string GroupOf(const Pod& pod) {
  const std::string* group = Find(pod.meta.annotations, kGroupNameAnnotation);
  return group == nullptr ? "" : *group;
}

TEST(ExpandJob, AdoptsNoPodGroupThatWasMadeForAnotherJob) {
  const ObjectSet set = Expanded(SmallJob("name: a") + SmallJob("name: a-a"));
  EXPECT_THAT(NamesOf(set.pod_groups), ElementsAre("a-a", "a-a-a-a"));
  ASSERT_THAT(NamesOf(set.pods), ElementsAre("a-a-w-0", "a-w-0"));
  EXPECT_EQ(GroupOf(set.pods[0]), "a-a-a-a");
  EXPECT_EQ(GroupOf(set.pods[1]), "a-a");
}

TEST(ExpandJob, AdoptsNoPodGroupThatIsSomebodyElses) {
  const std::string group =
      "\n---\n{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: a-a, "
      "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: r, controller: "
      "true}]}}";
  EXPECT_THAT(NamesOf(Expanded(SmallJob("name: a-a") + group).pod_groups),
              ElementsAre("a-a", "a-a-a-a"));
  ObjectSet set = MustLoad(SmallJob("name: a") + group);
  EXPECT_EQ(ExpandJobs(set).error().message,
            "in.yaml: Job default/a: its PodGroup default/a-a is that of apps/v1 ReplicaSet r "
            "(want another name or uid)");
}

TEST(ExpandJob, ThePodGroupOfTheUidComesBeforeThatOfTheName) {
  const std::string group =
      "\n---\n{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: a-u}}";
  const ObjectSet set = Expanded(SmallJob("name: a, uid: u") + SmallJob("name: a-u") + group);
  EXPECT_THAT(NamesOf(set.pod_groups), ElementsAre("a-u", "a-u-a-u"));
}

TEST(ExpandJob, TwoJobsCannotHaveOnePodGroup) {
  ObjectSet set = MustLoad(SmallJob("name: a, uid: b-c") + SmallJob("name: a-b, uid: c"));
  EXPECT_EQ(ExpandJobs(set).error().message,
            "in.yaml: Job default/a-b: its PodGroup default/a-b-c is that of Job a (want another "
            "name or uid)");
}

TEST(ExpandJob, AKeptPodGetsWhatItLacks) {
  const ObjectSet set = Expanded(
      std::string(kTrain) +
      "\n---\n{apiVersion: v1, kind: Pod, metadata: {name: train-worker-3, namespace: team, "
      "annotations: {volcano.sh/queue-name: mine}}, spec: {containers: [{name: mine}]}}");
  const Pod& pod = set.pods.at(4);
  EXPECT_EQ(pod.spec.containers.at(0).name, "mine");
  EXPECT_THAT(pod.meta.annotations,
              AllOf(Contains(Pair("scheduling.k8s.io/group-name", "train-u1")),
                    Contains(Pair("volcano.sh/task-spec", "worker")),
                    Contains(Pair("volcano.sh/task-index", "3")),
                    Contains(Pair("volcano.sh/job-name", "train")),
                    Contains(Pair("volcano.sh/queue-name", "mine"))));
  EXPECT_THAT(pod.meta.labels,
              AllOf(Contains(Pair("volcano.sh/task-spec", "worker")),
                    Contains(Pair("volcano.sh/partition-id", "1"))));
  EXPECT_EQ(pod.meta.owners.at(0).name, "train");
  EXPECT_THAT(set.warnings, IsEmpty());
}

TEST(ExpandJob, APodOfSomebodyElseIsNotTheJobs) {
  const auto expanded = [](const std::string& meta) {
    return Expanded(SmallJob("name: j") +
                    "\n---\n{apiVersion: v1, kind: Pod, metadata: {name: j-w-0, " + meta +
                    "}, spec: {containers: [{name: c}]}}");
  };
  const ObjectSet named = expanded("annotations: {scheduling.k8s.io/group-name: other}");
  ASSERT_THAT(named.pods, SizeIs(1));
  EXPECT_EQ(GroupOf(named.pods[0]), "other");
  EXPECT_THAT(named.warnings,
              ElementsAre("in.yaml: Job default/j: Pod default/j-w-0 is not this job's: it names "
                          "PodGroup other"));
  const ObjectSet owned = expanded(
      "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: r, controller: "
      "true}]");
  EXPECT_EQ(GroupOf(owned.pods.at(0)), "");
  EXPECT_THAT(owned.warnings,
              ElementsAre("in.yaml: Job default/j: Pod default/j-w-0 is not this job's: apps/v1 "
                          "ReplicaSet r controls it"));
}

TEST(ExpandJob, AMinimumThatIsTooLargeNamesTheJob) {
  std::string two = SmallJob("name: j", "7Ei");
  two.replace(two.find("replicas: 1"), 11, "replicas: 2");
  ObjectSet set = MustLoad(two);
  EXPECT_EQ(ExpandJobs(set).error().message,
            "in.yaml: Job default/j: spec.tasks: requests of the first 2 pods (minAvailable): "
            "memory: 14Ei is too large (want a number within 2^63-1)");
}

TEST(ExpandJob, WhatIsMadeSaysWhatItWasMadeFrom) {
  const ObjectSet set = Expanded(SmallJob("name: j"));
  EXPECT_EQ(Location(set.pod_groups.at(0).meta), "in.yaml: Job default/j: PodGroup default/j-j");
  EXPECT_EQ(Location(set.pods.at(0).meta), "in.yaml: Job default/j: Pod default/j-w-0");
}

TEST(ExpandJob, AFinishedJobMakesNothing) {
  std::string done(kTrain);
  const ObjectSet set = Expanded(done + "status: {state: {phase: Completed}}\n");
  EXPECT_THAT(set.pods, IsEmpty());
  EXPECT_THAT(set.pod_groups, IsEmpty());
}

TEST(ExpandJob, VolumesOfTheJobAreVolumesOfItsPods) {
  const ObjectSet set = Expanded(
      "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}, spec: {volumes: ["
      "{mountPath: /a, volumeClaimName: have}, {mountPath: /b, volumeClaim: {resources: {requests: "
      "{storage: 1Gi}}}}], tasks: [{name: t, replicas: 1, template: {spec: {containers: [{name: "
      "c}]}}}]}}");
  EXPECT_THAT(NamesOf(set.claims), ElementsAre("j-pvc-1"));
  EXPECT_EQ(set.pods.at(0).spec.volumes.at(0).claim_name, "have");
  EXPECT_EQ(set.pods.at(0).spec.volumes.at(1).claim_name, "j-pvc-1");
}

TEST(ExpandJob, AMillionPodsAreEnough) {
  ObjectSet set = MustLoad(
      "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}, spec: {tasks: ["
      "{name: t, replicas: 2000000000, template: {spec: {containers: [{name: c}]}}}]}}");
  EXPECT_EQ(ExpandJobs(set).error().message,
            "in.yaml: Job default/j: spec.tasks: 2000000000 pods are more than one job can have "
            "(1000000)");
}

TEST(DefaultPodGroup, APodGetsOneOfItsOwn) {
  ObjectSet set = MustLoad(R"(
apiVersion: v1
kind: Pod
metadata:
  name: p
  uid: u9
  annotations: {scheduling.volcano.sh/queue-name: q, volcano.sh/network-topology-mode: SOFT, volcano.sh/network-topology-highest-tier: "2"}
spec: {priorityClassName: high, containers: [{name: c, resources: {requests: {cpu: 2}}}]}
---
{apiVersion: v1, kind: Pod, metadata: {name: other}, spec: {schedulerName: x, containers: [{name: c}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: member, annotations: {scheduling.k8s.io/group-name: pg}}, spec: {containers: [{name: c}]}}
)");
  ASSERT_TRUE(
      AddDefaultPodGroups(set, [](const Pod& pod) { return pod.spec.scheduler_name != "x"; }));
  ASSERT_THAT(NamesOf(set.pod_groups), ElementsAre("podgroup-u9"));
  const PodGroup& group = set.pod_groups[0];
  EXPECT_EQ(group.min_member, 1);
  EXPECT_EQ(group.queue, "q");
  EXPECT_EQ(group.priority_class_name, "high");
  EXPECT_EQ(group.topology, (NetworkTopology{TopologyMode::kSoft, 2, ""}));
  EXPECT_EQ(group.min_resources->at("cpu").ToString(), "2");
  EXPECT_THAT(set.pods.at(2).meta.annotations,
              Contains(Pair("scheduling.k8s.io/group-name", "podgroup-u9")));
  EXPECT_THAT(set.pods.at(1).meta.annotations, IsEmpty());
}

TEST(DefaultPodGroup, AnUnknownModeAndABadTierAreErrors) {
  std::vector<std::string> warnings;
  Pod pod;
  pod.meta.kind = "Pod";
  pod.meta.name = pod.meta.uid = "p";
  pod.meta.ns = "default";
  pod.meta.source = "in.yaml";
  pod.meta.annotations = {{"volcano.sh/network-topology-mode", "medium"}};
  EXPECT_EQ(MakeDefaultPodGroup(pod, warnings).error().message,
            "in.yaml: Pod default/p: metadata.annotations[volcano.sh/network-topology-mode]: found "
            "\"medium\", want hard or soft");
  pod.meta.annotations = {{"volcano.sh/network-topology-highest-tier", "two"}};
  EXPECT_EQ(
      MakeDefaultPodGroup(pod, warnings).error().message,
      "in.yaml: Pod default/p: "
      "metadata.annotations[volcano.sh/network-topology-highest-tier]: found \"two\", want an "
      "integer of at least 0");
}

TEST(DefaultPodGroup, ABadTopologyOfAPodOnANodeIsAWarning) {
  for (const char* key :
       {"volcano.sh/network-topology-highest-tier", "volcano.sh/network-topology-mode"}) {
    std::vector<std::string> warnings;
    Pod pod;
    pod.meta.annotations = {{key, "two"}};
    pod.spec.node_name = "n1";
    const Result<PodGroup> group = MakeDefaultPodGroup(pod, warnings);
    ASSERT_TRUE(group.has_value()) << group.error().message;
    EXPECT_EQ(group->topology, std::nullopt);
    EXPECT_THAT(warnings, SizeIs(1));
  }
}

TEST(DefaultPodGroup, RequestsThatAreTooLargeNameThePodUnlessItIsOnANode) {
  const std::string pod =
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {NODE containers: [{name: c, "
      "resources: {requests: {memory: 7Ei}}}, {name: d, resources: {requests: {memory: 7Ei}}}]}}";
  const auto takes_all = [](const Pod& /*pod*/) { return true; };
  std::string pending = pod;
  ObjectSet set = MustLoad(pending.replace(pending.find("NODE"), 4, ""));
  EXPECT_EQ(AddDefaultPodGroups(set, takes_all).error().message,
            "in.yaml: Pod default/p: spec.containers: requests: memory: 14Ei is too large (want a "
            "number within 2^63-1)");
  std::string bound = pod;
  ObjectSet running = MustLoad(bound.replace(bound.find("NODE"), 4, "nodeName: n1,"));
  EXPECT_TRUE(AddDefaultPodGroups(running, takes_all).has_value());
}

}  // namespace
}  // namespace strata::objects
