#include "whatif/edit.h"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/specs.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = Edit::Kind;

CompletedObjects Complete(const std::string& manifests) {
  return CompleteObjects(objects::MustLoad(manifests)).value();
}

// Pods "p0" and so on of PodGroup default/g, each on the node of its number.
std::string PlacedGang(int pods) {
  std::string text =
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: "
      "{minMember: " +
      std::to_string(pods) + ", queue: default}\nstatus: {phase: Running}\n---\n";
  for (int i = 0; i < pods; ++i) {
    const std::string number = std::to_string(i);
    text += "apiVersion: v1\nkind: Pod\nmetadata: {name: p" + number +
            ", annotations: {scheduling.k8s.io/group-name: g}}\nspec: {schedulerName: volcano, "
            "nodeName: node" +
            number +
            ", containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\nstatus: "
            "{phase: Running}\n---\n";
  }
  return text;
}

std::string Line(const Edit& edit, CompletedObjects& objects) {
  const auto lines = ApplyEdits(std::vector<Edit>{edit}, "default", objects);
  return lines ? lines->front() : lines.error().message;
}

std::set<std::string> Cordoned(const CompletedObjects& objects) {
  std::set<std::string> names;
  for (const objects::Node& node : objects.objects.nodes) {
    if (node.unschedulable) names.insert(node.meta.name);
  }
  return names;
}

std::vector<std::string> Waiting(const CompletedObjects& objects) {
  std::vector<std::string> names;
  for (const objects::Pod& pod : objects.objects.pods) {
    if (pod.spec.node_name.empty()) names.push_back(pod.meta.name);
  }
  return names;
}

TEST(ApplyEdits, DrainsANode) {
  CompletedObjects objects = Complete(EightNodes("cpu: 2") + PlacedGang(2));
  EXPECT_EQ(Line({Kind::kDrain, "node1"}, objects), "node1 drained: 1 pod waits again");
  EXPECT_THAT(Cordoned(objects), ElementsAre("node1"));
  EXPECT_THAT(Waiting(objects), ElementsAre("p1"));
  EXPECT_EQ(objects.objects.pod_groups.front().phase, objects::PodGroupPhase::kRunning);
}

TEST(ApplyEdits, DrainsAHyperNodeWithTheGangThatWasOnIt) {
  CompletedObjects objects = Complete(EightNodes("cpu: 2") + PlacedGang(2));
  EXPECT_EQ(Line({Kind::kDrain, "s4"}, objects), "s4 (4 nodes) drained: 2 pods wait again");
  EXPECT_THAT(Cordoned(objects), ElementsAre("node0", "node1", "node2", "node3"));
  EXPECT_EQ(objects.objects.pod_groups.front().phase, objects::PodGroupPhase::kPending);
}

TEST(ApplyEdits, PodsOfDaemonSetsStayOnADrainedNode) {
  CompletedObjects objects = Complete(EightNodes("cpu: 2") + PlacedGang(1));
  objects.objects.pods.front().meta.owners.push_back(
      {.api_version = "apps/v1", .kind = "DaemonSet", .name = "d", .uid = "u", .controller = true});
  EXPECT_EQ(Line({Kind::kDrain, "node0"}, objects), "node0 drained: 0 pods wait again");
}

TEST(ApplyEdits, CordonsAndLeavesPods) {
  CompletedObjects objects = Complete(EightNodes("cpu: 2") + PlacedGang(2));
  EXPECT_EQ(Line({Kind::kCordon, "s0"}, objects), "s0 (2 nodes) cordoned");
  EXPECT_TRUE(Waiting(objects).empty());
}

TEST(ApplyEdits, AnUnknownNameIsOneLineWithSimilarOnes) {
  CompletedObjects objects = Complete(EightNodes("cpu: 2") + GangOf("train", 2, "cpu: 1", ""));
  EXPECT_EQ(Line({Kind::kDrain, "nod3"}, objects),
            "no node or HyperNode of the name nod3; similar names: node3, node0, node1");
  EXPECT_EQ(Line({Kind::kWithout, "trian"}, objects),
            "no Job or PodGroup of the name default/trian; similar names: default/train");
  EXPECT_EQ(Line({Kind::kSet, "research.weight=2"}, objects),
            "no queue of the name research: there are none");
}

TEST(ApplyEdits, RemovesAJobByItsOwnName) {
  CompletedObjects objects = Complete(EightNodes("cpu: 2") + GangOf("train", 3, "cpu: 1", ""));
  EXPECT_EQ(Line({Kind::kWithout, "train"}, objects), "default/train removed: 3 pods gone");
  EXPECT_TRUE(objects.objects.pods.empty());
  EXPECT_TRUE(objects.objects.jobs.empty());
  EXPECT_TRUE(objects.group_of_job.empty());
}

TEST(ApplyEdits, SetsFieldsOfQueues) {
  CompletedObjects objects = Complete(
      EightNodes("cpu: 2") +
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a.weight.b}\n");
  const auto queue = [&]() -> const objects::Queue& {
    for (const objects::Queue& one : objects.objects.queues) {
      if (one.meta.name == "a.weight.b") return one;
    }
    return objects.objects.queues.front();
  };
  EXPECT_EQ(Line({Kind::kSet, "a.weight.b.weight=4"}, objects), "queue a.weight.b.weight=4");
  EXPECT_EQ(queue().weight, 4);
  Line({Kind::kSet, "a.weight.b.capability.nvidia.com/gpu=16"}, objects);
  EXPECT_EQ(queue().capability.at("nvidia.com/gpu").ToString(), "16");
  Line({Kind::kSet, "a.weight.b.capability.nvidia.com/gpu=none"}, objects);
  EXPECT_TRUE(queue().capability.empty());
  Line({Kind::kSet, "a.weight.b.state=closed"}, objects);
  EXPECT_EQ(queue().state, objects::QueueState::kClosed);
}

TEST(ApplyEdits, ScalesAJobAndItsMinimum) {
  CompletedObjects objects = Complete(EightNodes("cpu: 2") + GangOf("train", 3, "cpu: 1", ""));
  EXPECT_EQ(Line({Kind::kScale, "train=5"}, objects), "train scaled from 3 to 5 pods (minimum 5)");
  std::vector<std::string> names;
  for (const objects::Pod& pod : objects.objects.pods) names.push_back(pod.meta.name);
  EXPECT_THAT(names, ElementsAre("train-w-0", "train-w-1", "train-w-2", "train-w-3", "train-w-4"));
  EXPECT_EQ(objects.objects.pod_groups.front().min_resources->at("cpu").ToString(), "5");
  EXPECT_EQ(Line({Kind::kScale, "train:w=2"}, objects),
            "train:w scaled from 5 to 2 pods (minimum 2)");
  EXPECT_EQ(objects.objects.pods.size(), 2U);
  EXPECT_EQ(Line({Kind::kScale, "train:v=2"}, objects),
            "no task of train of the name v; similar names: w");
}

TEST(ApplyEdits, AddsNodesBesideTheOneTheyAreCopiesOf) {
  CompletedObjects objects = Complete(EightNodes("cpu: 2"));
  EXPECT_EQ(Line({Kind::kAdd, "nodes=2,like=node2,cpu=4"}, objects),
            "2 nodes like node2 added under s1");
  const LoadedCluster cluster = LoadCompleted(objects).value();
  const HyperNodeTree& tree = cluster.state->tree();
  EXPECT_EQ(tree.NodesOf(*tree.Find("s1")).size(), 4U);
  EXPECT_EQ(tree.NodesOf(tree.top()).size(), 10U);
  EXPECT_EQ(objects.objects.nodes.front().meta.name, "added-0");
  EXPECT_EQ(objects.objects.nodes.front().allocatable.at("cpu").ToString(), "4");
}

TEST(ApplyEdits, AddsRacksBesideTheRackOfTheCopiedNode) {
  CompletedObjects objects = Complete(EightNodes("cpu: 2"));
  EXPECT_EQ(Line({Kind::kAdd, "racks=2,nodes=3"}, objects),
            "2 racks of 3 nodes like node0 added under s4");
  const LoadedCluster cluster = LoadCompleted(objects).value();
  const HyperNodeTree& tree = cluster.state->tree();
  EXPECT_EQ(tree.NodesOf(*tree.Find("s4")).size(), 10U);
  EXPECT_EQ(tree.at(*tree.Find("added-rack-1")).tier, 1);
  EXPECT_THAT(Line({Kind::kAdd, "nodes=1,under=s4"}, objects),
              HasSubstr("under=s4: its members are HyperNodes"));
}

TEST(ApplyEdits, AddsNodesToAnEmptyCluster) {
  CompletedObjects objects = Complete(GangOf("train", 2, "nvidia.com/gpu: 8", ""));
  EXPECT_EQ(Line({Kind::kAdd, "nodes=2,gpus=8"}, objects), "2 nodes added");
  const auto cluster = LoadCompleted(objects);
  ASSERT_TRUE(cluster) << cluster.error().message;
}

TEST(CheckEdit, SaysWhatIsAccepted) {
  const auto wrong = [](Kind kind, const std::string& text) {
    const Status status = CheckEdit({kind, text});
    return status ? std::string("fine") : status.error().message;
  };
  EXPECT_EQ(wrong(Kind::kAdd, "nodes=0"), "nodes: want a number from 1 to 100000, not \"0\"");
  EXPECT_THAT(wrong(Kind::kAdd, "racks=2"), HasSubstr("nodes: missing (want nodes=N"));
  EXPECT_THAT(wrong(Kind::kAdd, "node=2"), HasSubstr("unknown key \"node\""));
  EXPECT_THAT(wrong(Kind::kScale, "train"), HasSubstr("want JOB[:TASK]=N"));
  EXPECT_THAT(wrong(Kind::kSet, "a.size=3"), HasSubstr("want QUEUE.FIELD=VALUE"));
  EXPECT_EQ(wrong(Kind::kSet, "a.weight=0"),
            "weight: bad value \"0\" (want a number from 1 to 65535)");
  EXPECT_EQ(wrong(Kind::kDrain, ""), "want a name, found \"\"");
  EXPECT_EQ(wrong(Kind::kDrain, "node0"), "fine");
}

}  // namespace
}  // namespace strata
