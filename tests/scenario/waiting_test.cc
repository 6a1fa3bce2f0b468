// Every way a job can wait: one row each, with the word and the whole sentence. A word that the
// sources use and no row has, or that docs/reasons.md lacks, fails.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/scheduler_conf.h"
#include "sched/actions/actions.h"
#include "sched/registry.h"
#include "whatif/test_support.h"

namespace strata {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAreArray;
using testing::HasSubstr;

struct Row {
  std::string reason;
  std::string message;
  std::string job;
  std::string manifests;
  std::string plugins = "";  // of the second tier; "" for the default configuration
  int cycles = 0;            // 0: until nothing changes
  std::string actions = "enqueue, allocate, backfill";  // where plugins are named
  std::string arguments = "";                           // of the action that evicts
};

void PrintTo(const Row& row, std::ostream* os) {
  *os << row.reason << ": " << row.message;
}

std::string Node(const std::string& name, int cpu, const std::string& spec = "") {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\nspec: {" + spec +
         "}\nstatus: {allocatable: {cpu: " + std::to_string(cpu) + ", pods: 10}}\n---\n";
}

struct PodArgs {
  std::string group = "";
  std::string cpu = "1";
  std::string meta = "";  // more metadata, with its comma
  std::string spec = "";  // likewise
  std::string node = "";
};

std::string Pod(const std::string& name, const PodArgs& args = {}) {
  std::string text = "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: default";
  if (!args.group.empty()) {
    text += ", annotations: {scheduling.k8s.io/group-name: " + args.group + "}";
  }
  text += args.meta + "}\nspec: {schedulerName: volcano" + args.spec;
  if (!args.node.empty()) text += ", nodeName: " + args.node;
  const std::string resources =
      args.cpu.empty() ? "" : ", resources: {requests: {cpu: " + args.cpu + "}}";
  text += ", containers: [{name: c, image: i" + resources + "}]}\n";
  if (!args.node.empty()) text += "status: {phase: Running}\n";
  return text + "---\n";
}

std::string Pods(const std::string& group, int count, const PodArgs& args = {}) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    PodArgs one = args;
    one.group = group;
    text += Pod(group + "-w-" + std::to_string(i), one);
  }
  return text;
}

std::string Group(const std::string& name, const std::string& spec) {
  return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: " + name +
         ", namespace: default}\nspec: {" + spec + "}\n---\n";
}

std::string Queue(const std::string& name,
                  const std::string& spec,
                  const std::string& state = "Open") {
  return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " + name +
         "}\nspec: {" + spec + "}\nstatus: {state: " + state + "}\n---\n";
}

const std::string kCapacity = "{name: predicates}, {name: capacity, enableHierarchy: true}";
const std::string kParts =
    "subGroupPolicy: [{name: part, subGroupSize: 2, minSubGroups: 2, matchLabelKeys: [part], "
    "networkTopology: {mode: hard, highestTierAllowed: 1}}]";

// Two sub-groups of two pods.
std::string Parts(const std::string& spec) {
  std::string text = Group("g", spec + ", " + kParts);
  for (int i = 0; i < 4; ++i) {
    text += Pod("g-w-" + std::to_string(i),
                {.group = "g", .meta = ", labels: {part: \"" + std::to_string(i / 2) + "\"}"});
  }
  return text;
}

// A HyperNode of tier 1 with the tier name "rack" that lists itself.
std::string Ring(const std::string& name) {
  return "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: " + name +
         "}\nspec: {tier: 1, tierName: rack, members: [{type: HyperNode, selector: {exactMatch: "
         "{name: " +
         name + "}}}]}\n---\n";
}

std::vector<Row> RowsOfPlaces() {
  return {
      {"NotEnoughResources",
       "1/1 tasks in gang unschedulable: 0 of 1 pod fits on the 1 node of the cluster: short of 1 "
       "cpu (1 Insufficient cpu)",
       "default/podgroup-p",
       Node("n0", 4) + Pod("p", {.cpu = "3"}) + Pod("q", {.cpu = "2", .node = "n0"}),
       "{name: predicates}"},
      {"NotEnoughResources",
       "2/2 tasks in gang unschedulable: 1 of 2 pods fit on the 2 nodes of the cluster: short of 1 "
       "cpu (1 Insufficient cpu)",
       "default/g",
       Node("n0", 2) + Node("n1", 2) + Group("g", "minMember: 2") + Pods("g", 2, {.cpu = "2"}) +
           Pod("q", {.node = "n0"}),
       "{name: predicates}"},
      {"NotEnoughResources",
       "3/3 tasks in gang unschedulable: 2 of 3 pods fit on the 2 nodes of the cluster: 2 "
       "Insufficient cpu",
       "default/g",
       Node("n0", 4) + Node("n1", 4) + Group("g", "minMember: 3") + Pods("g", 3, {.cpu = "2"}) +
           Pod("q", {.node = "n0"}) + Pod("r", {.node = "n1"}),
       "{name: predicates}"},
      {"GangLargerThanCluster",
       "3/3 tasks in gang unschedulable: 2 of 3 pods fit on the 2 nodes of the cluster: 2 "
       "Insufficient cpu; the gang is larger than the whole cluster, which takes 2 of 3 pods when "
       "it is empty",
       "default/g",
       Node("n0", 3) + Node("n1", 3) + Group("g", "minMember: 3") + Pods("g", 3, {.cpu = "2"})},
      {"GangLargerThanCluster",
       "the gang is larger than the whole cluster: 9 cpu requested, 8 in the cluster",
       "default/gang-gang",
       EightNodes("cpu: 1") + GangOf("gang", 9, "cpu: 1", "")},
      {"GangLargerThanCluster",
       "9/9 tasks in gang unschedulable: no HyperNode of tier 3 or below holds 9 pods; nearest: "
       "HyperNode s0 (tier 1) takes 2 of 9, HyperNode s4 (tier 2) takes 4 of 9, HyperNode s6 (tier "
       "3) takes 8 of 9; HyperNode s6 is short of 1 cpu; the gang is larger than the whole "
       "cluster, "
       "which takes 8 of 9 pods when it is empty",
       "default/gang-gang",
       EightNodes("cpu: 1") + GangOf("gang", 9, "cpu: 1", "mode: hard"),
       "{name: predicates}, {name: network-topology-aware}"},
      {"NotEnoughResources",
       "1/1 tasks unschedulable: no node of the whole cluster takes pod default/p: short of 1 pod "
       "(1 Insufficient pods)",
       "default/podgroup-p",
       "apiVersion: v1\nkind: Node\nmetadata: {name: n0}\nstatus: {allocatable: {cpu: 4, pods: "
       "1}}\n---\n" +
           Pod("p", {.cpu = ""}) + Pod("q", {.node = "n0"})},
      {"PodLargerThanNode",
       "1/1 tasks in gang unschedulable: 0 of 1 pod fits on the 2 nodes of the cluster: 2 "
       "Insufficient cpu; no node is large enough for one pod: 9 cpu requested, the largest node "
       "has 8",
       "default/g",
       Node("n0", 8) + Node("n1", 8) + Group("g", "minMember: 1") + Pods("g", 1, {.cpu = "9"})},
      {"TopologyUnsatisfied",
       "2/2 tasks in gang unschedulable: no HyperNode of tier 1 or below holds 2 pods; nearest: "
       "HyperNode s1 (tier 1) takes 1 of 2; HyperNode s1 is short of 1 cpu (1 Insufficient cpu)",
       "default/gang-gang",
       EightNodes("cpu: 1") + GangOf("gang", 2, "cpu: 1", "highestTierAllowed: 1") +
           Pod("a", {.node = "node0"}) + Pod("b", {.node = "node1"}) + Pod("c", {.node = "node2"}) +
           Pod("d", {.node = "node4"}) + Pod("e", {.node = "node6"})},
      {"HyperNodeHeldByOwnPods",
       "1/3 tasks unschedulable: no HyperNode of tier 1 or below holds 1 pod; nearest: HyperNode "
       "s0 (tier 1) takes 0 of 1; HyperNode s0 is short of 1 cpu (2 Insufficient cpu); its other "
       "pods run there, and even without other jobs HyperNode s0 takes 2 of its 3 pods",
       "default/g",
       EightNodes("cpu: 1") +
           Group("g", "minMember: 2, networkTopology: {mode: hard, highestTierAllowed: 1}") +
           Pod("g-w-0", {.group = "g", .node = "node0"}) +
           Pod("g-w-1", {.group = "g", .node = "node1"}) + Pod("g-w-2", {.group = "g"})},
      {"GangLargerThanHyperNode",
       "3/3 tasks in gang unschedulable: no HyperNode of tier 1 or below holds 3 pods; nearest: "
       "HyperNode s0 (tier 1) takes 2 of 3; HyperNode s0 is short of 1 cpu; the gang is larger "
       "than any HyperNode of tier 1 or below: s0, the largest, takes 2 pods when it is empty",
       "default/gang-gang",
       EightNodes("cpu: 1") + GangOf("gang", 3, "cpu: 1", "highestTierAllowed: 1")},
      {"GangLargerThanHyperNode",
       "3/3 tasks in gang unschedulable: no HyperNode of tier 1 or below holds 3 pods; nearest: "
       "HyperNode s0 (tier 1) takes 2 of 3; in HyperNode s0: 2 Insufficient cpu; the gang is "
       "larger than any HyperNode of tier 1 or below: s0, the largest, takes 2 pods when it is "
       "empty",
       "default/gang-gang",
       EightNodes("cpu: 3") + GangOf("gang", 3, "cpu: 2", "highestTierAllowed: 1")},
      {"TopologyUnsatisfied",
       "1/1 tasks in gang unschedulable: no HyperNode of tier 0 or below exists",
       "default/gang-gang",
       EightNodes("cpu: 1") + GangOf("gang", 1, "cpu: 1", "highestTierAllowed: 0")},
      {"TopologyUnsatisfied",
       "1/1 tasks in gang unschedulable: no HyperNode of tier 1 or below is in the tree: HyperNode "
       "ring is invalid and excluded from it",
       "default/gang-gang",
       Node("n0", 1) + Ring("ring") + GangOf("gang", 1, "cpu: 1", "highestTierAllowed: 1")},
      {"TopologyUnsatisfied",
       "1/1 tasks in gang unschedulable: no HyperNode of tier 1 or below is in the tree: HyperNode "
       "ring and 1 more are invalid and excluded from it",
       "default/gang-gang",
       Node("n0", 1) + Ring("ring") + Ring("sing") + GangOf("gang", 1, "cpu: 1", "mode: hard")},
      {"TopologyUnsatisfied",
       "1/3 tasks in gang unschedulable: it already runs in s6 of tier 3, above the highest tier "
       "allowed (1)",
       "default/g",
       EightNodes("cpu: 1") +
           Group("g", "minMember: 3, networkTopology: {mode: hard, highestTierAllowed: 1}") +
           Pod("g-w-0", {.group = "g", .node = "node0"}) +
           Pod("g-w-1", {.group = "g", .node = "node7"}) + Pod("g-w-2", {.group = "g"})},
      {"GangLargerThanHyperNode",
       "4/4 tasks in gang unschedulable: each sub-group has a place, but not all of them together "
       "below one HyperNode of tier 1 or below; nearest: HyperNode s0 (tier 1) takes 2 of 4; the "
       "gang is larger than any HyperNode of tier 1 or below: s0, the largest, takes 2 pods when "
       "it is empty",
       "default/g",
       EightNodes("cpu: 1") +
           Parts("minMember: 4, networkTopology: {mode: hard, highestTierAllowed: 1}")},
      {"GangLargerThanCluster",
       "4/4 tasks in gang unschedulable: sub-group part-0: no HyperNode of tier 1 or below holds 2 "
       "pods; nearest: HyperNode only (tier 1) takes 1 of 2; HyperNode only is short of 1 cpu; the "
       "gang is larger than the whole cluster, which takes 1 of 2 pods when it is empty",
       "default/g",
       Node("n0", 1) +
           "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: "
           "only}\nspec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: "
           "n0}}}]}\n---\n" +
           Parts("minMember: 4"),
       "{name: predicates}, {name: network-topology-aware}"},
      {"NoMatchingNode",
       "1/1 tasks in gang unschedulable: 0 of 1 pod fits on the 1 node of the cluster: 1 node(s) "
       "were unschedulable",
       "default/podgroup-p",
       Node("n0", 4, "unschedulable: true") + Pod("p")},
      {"WaitingForRelease",
       "1/1 tasks wait for resources that terminating pods still hold",
       "default/podgroup-p",
       Node("n0", 1) + Pod("p") +
           Pod("q", {.meta = ", deletionTimestamp: \"2026-08-20T10:00:00Z\"", .node = "n0"}),
       "{name: predicates}",
       1},
      {"WaitingForGang",
       "1/2 tasks unschedulable: BestEffort pod default/g-b-0 waits for the rest of sub-group "
       "part-0 "
       "to have a place",
       "default/g",
       Node("n0", 1) +
           Group("g",
                 "minMember: 1, subGroupPolicy: [{name: part, subGroupSize: 2, matchLabelKeys: "
                 "[part]}]") +
           Pod("g-w-0", {.group = "g"}) +
           Pod("g-b-0", {.group = "g", .cpu = "", .meta = ", labels: {part: \"0\"}"})},
  };
}

std::vector<Row> RowsOfQueues() {
  return {
      {"QueueNotFound",
       "queue \"nowhere\" does not exist",
       "default/g",
       Node("n0", 1) + Group("g", "minMember: 1, queue: nowhere") + Pods("g", 1)},
      {"QueueClosed",
       "queue shut is not open",
       "default/g",
       Node("n0", 1) + Queue("shut", "weight: 1", "Closed") +
           Group("g", "minMember: 1, queue: shut") + Pods("g", 1)},
      {"QueueClosed",
       "queue up is not open, so queue down is not",
       "default/g",
       Node("n0", 1) + Queue("up", "weight: 1", "Closed") + Queue("down", "parent: up") +
           Group("g", "minMember: 1, queue: down, minResources: {cpu: 1}") + Pods("g", 1),
       kCapacity},
      {"QueueQuotaExceeded",
       "queue small: 3 cpu requested, 4 in use or promised, its limit is 6",
       "default/g",
       Node("n0", 8) + Queue("small", "capability: {cpu: 6}") +
           Group("f", "minMember: 4, queue: small, minResources: {cpu: 4}") + Pods("f", 4) +
           Group("g", "minMember: 3, queue: small, minResources: {cpu: 3}") + Pods("g", 3)},
      {"GangLargerThanQueue",
       "queue small: 3 cpu requested, 0 in use or promised, its limit is 2, less than the gang "
       "requests by itself",
       "default/g",
       Node("n0", 8) + Queue("small", "capability: {cpu: 2}") +
           Group("g", "minMember: 3, queue: small, minResources: {cpu: 3}") + Pods("g", 3)},
      {"QueueQuotaExceeded",
       "3/3 tasks in gang unschedulable: queue small: 1 cpu requested, 2 in use, its limit is 2",
       "default/g",
       Node("n0", 8) + Queue("small", "capability: {cpu: 2}") +
           Group("g", "minMember: 3, queue: small") + Pods("g", 3)},
      {"QueueShareExceeded",
       "1/2 tasks unschedulable: queue a: 1 cpu requested, 1 in use, its share is 1; the whole "
       "cluster has 0 cpu free",
       "default/g",
       Node("n0", 4) + Queue("a", "weight: 1") + Queue("b", "weight: 3") +
           Group("g", "minMember: 1, queue: a") + Pods("g", 2) +
           Group("h", "minMember: 3, queue: b") + Pods("h", 3)},
      {"GuaranteedToOthers",
       "queue a: 3 cpu requested, 0 in use or promised, 2 not guaranteed to other queues",
       "default/g",
       Node("n0", 4) + Queue("a", "weight: 1") + Queue("b", "guarantee: {resource: {cpu: 2}}") +
           Group("g", "minMember: 3, queue: a, minResources: {cpu: 3}") + Pods("g", 3)},
      {"ClusterFull",
       "1/3 tasks unschedulable: queue default: 1 cpu requested, 2 in use, the cluster has 2; the "
       "whole "
       "cluster has 0 cpu free",
       "default/g",
       Node("n0", 2) + Group("g", "minMember: 1") + Pods("g", 3)},
      {"QueueOverused",
       "queue \"tight\" already uses its full deserved share",
       "default/g",
       Node("n0", 8) + Queue("tight", "capability: {cpu: 1, pods: 1}") +
           Group("r", "minMember: 1, queue: tight") + Pods("r", 1, {.node = "n0"}) +
           Group("g", "minMember: 1, queue: tight") + Pods("g", 1)},
      {"QueueNotLeaf",
       "queue dept has child queues (part), so it takes no jobs",
       "default/g",
       Node("n0", 1) + Queue("dept", "weight: 1") + Queue("part", "parent: dept") +
           Group("g", "minMember: 1, queue: dept, minResources: {cpu: 1}") + Pods("g", 1),
       kCapacity},
      {"QueueParentMissing",
       "the parent of queue lost does not exist",
       "default/g",
       Node("n0", 1) + Queue("lost", "parent: gone") +
           Group("g", "minMember: 1, queue: lost, minResources: {cpu: 1}") + Pods("g", 1),
       kCapacity},
      {"QueueCycle",
       "queue ring is its own ancestor",
       "default/g",
       Node("n0", 1) + Queue("ring", "parent: other") + Queue("other", "parent: ring") +
           Group("g", "minMember: 1, queue: ring, minResources: {cpu: 1}") + Pods("g", 1),
       kCapacity},
      {"ClusterOvercommitted",
       "3 cpu requested, 2 in use or promised in the cluster, the limit is 4.8 (1.2 times what its "
       "nodes have); the whole cluster has 2 cpu free",
       "default/g",
       Node("n0", 4) + Pod("q", {.cpu = "2", .node = "n0"}) +
           Group("g", "minMember: 3, minResources: {cpu: 3}") + Pods("g", 3),
       "{name: predicates}, {name: overcommit}"},
      {"NamespaceQuotaExceeded",
       "ResourceQuota default/cores: 3 cpu requested, 0 in use or promised, its limit is 2",
       "default/g",
       Node("n0", 4) +
           "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: cores, namespace: "
           "default}\nspec: {hard: {requests.cpu: 2}}\n---\n" +
           Group("g", "minMember: 3, minResources: {cpu: 3}") + Pods("g", 3),
       "{name: predicates}, {name: resourcequota}"},
      {"NamespaceQuotaExceeded",
       "ResourceQuota default/limits: 6 limits.cpu requested, 1 in use or promised, its limit is 6",
       "default/j-uid",
       Node("n0", 8) +
           "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: limits, namespace: "
           "default}\nspec: {hard: {limits.cpu: 6, count/pods: 9}}\nstatus: {used: {limits.cpu: "
           "1}}\n---\n" +
           "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j, uid: uid}\n"
           "spec: {tasks: [{name: w, replicas: 3, template: {spec: {containers: [{name: c, "
           "resources: {requests: {cpu: 1}, limits: {cpu: 2}}}]}}}]}\n---\n",
       "{name: predicates}, {name: resourcequota}"},
  };
}

// A node of eight cores in a node group.
std::string NodeIn(const std::string& group) {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: n-" + group +
         ", labels: {volcano.sh/nodegroup-name: " + group +
         "}}\nstatus: {allocatable: {cpu: 8, pods: 10}}\n---\n";
}

std::vector<Row> RowsOfNodeGroups() {
  const std::string plugins = "{name: predicates}, {name: nodegroup}";
  const std::string group = Group("g", "minMember: 1, queue: q") + Pods("g", 1);
  const std::string nobody =
      "1/1 tasks in gang unschedulable: 0 of 1 pod fits on the 1 node of the cluster: 1 node(s) "
      "had ";
  return {
      {"NoMatchingNode",
       nobody + "no node group",
       "default/g",
       Node("n0", 4) + Queue("q", "weight: 1") + group,
       plugins},
      {"NoMatchingNode",
       nobody + "a node group the queue does not name",
       "default/g",
       NodeIn("fast") + Queue("q", "weight: 1") + group,
       plugins},
      {"NoMatchingNode",
       nobody + "a node group that the queue excludes",
       "default/g",
       NodeIn("fast") +
           Queue("q",
                 "affinity: {nodeGroupAntiAffinity: "
                 "{requiredDuringSchedulingIgnoredDuringExecution: [fast]}}") +
           group,
       plugins},
      {"NoMatchingNode",
       "3/3 tasks in gang unschedulable: 2 of 3 pods fit on the 1 node of the cluster: 1 node(s) "
       "had a node group whose limit the queue has reached",
       "default/g",
       NodeIn("fast") +
           "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q, "
           "annotations: {volcano.sh/nodegroup-resource-limits: '{\"fast\": {\"cpu\": 2}}'}}\n"
           "spec: {affinity: {nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
           "[fast]}}}\n---\n" +
           Group("g", "minMember: 3, queue: q") + Pods("g", 3),
       plugins},
  };
}

std::string NodeWithMemory() {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: n0}\nstatus: {allocatable: {cpu: 8, memory: "
         "8Gi, pods: 10}}\n---\n";
}

// It has two NUMA nodes of four CPUs, of which three are free on each.
std::string NumaNode(const std::string& cpu_policy, const std::string& policy) {
  std::string cpus;
  for (int cpu = 0; cpu < 8; ++cpu) {
    cpus += "\"" + std::to_string(cpu) + "\": {numa: " + std::to_string(cpu / 4) +
            ", core: " + std::to_string(cpu) + "}, ";
  }
  return NodeWithMemory() +
         "apiVersion: nodeinfo.volcano.sh/v1alpha1\nkind: Numatopology\nmetadata: {name: "
         "n0}\nspec: "
         "{policies: {CPUManagerPolicy: " +
         cpu_policy + ", TopologyManagerPolicy: " + policy + "}, cpuDetail: {" + cpus +
         "}, numares: {cpu: {allocatable: \"1-3,5-7\", capacity: 8}}}\n---\n";
}

std::vector<Row> RowsOfNuma() {
  const std::string plugins = "{name: predicates}, {name: numa-aware}";
  const std::string pod =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default, annotations: "
      "{volcano.sh/numa-topology-policy: single-numa-node}}\nspec: {schedulerName: volcano, "
      "containers: [{name: c, image: i, resources: {limits: {cpu: 4, memory: 1Gi}}}]}\n---\n";
  const std::string nobody =
      "1/1 tasks in gang unschedulable: 0 of 1 pod fits on the 1 node of the cluster: 1 node(s) ";
  return {
      {"NoMatchingNode",
       nobody + "had no Numatopology",
       "default/podgroup-p",
       NodeWithMemory() + pod,
       plugins},
      {"NoMatchingNode",
       nobody + "had no static CPU manager policy",
       "default/podgroup-p",
       NumaNode("none", "single-numa-node") + pod,
       plugins},
      {"NoMatchingNode",
       nobody + "had another topology manager policy than single-numa-node",
       "default/podgroup-p",
       NumaNode("static", "restricted") + pod,
       plugins},
      {"NoMatchingNode",
       nobody + "couldn't align the pod's cpus (single-numa-node)",
       "default/podgroup-p",
       NumaNode("static", "single-numa-node") + pod,
       plugins},
  };
}

std::vector<Row> RowsOfJobs() {
  return {
      {"NotEnoughTasks",
       "1 pod exists, minMember is 3",
       "default/g",
       Node("n0", 4) + Group("g", "minMember: 3") + Pods("g", 1)},
      {"NotEnoughPodsOfTask",
       "0 pods exist of task ps, its minimum is 1",
       "default/g",
       Node("n0", 4) + Group("g", "minMember: 2, minTaskMember: {ps: 1}") + Pods("g", 2)},
      {"NotEnoughPodsOfTask",
       "1 sub-group exists of policy part, minSubGroups is 2",
       "default/g",
       Node("n0", 4) + Group("g", "minMember: 1, " + kParts) +
           Pod("g-w-0", {.group = "g", .meta = ", labels: {part: \"0\"}"})},
      {"SchedulingGated",
       "1/2 tasks are held back by their scheduling gates",
       "default/g",
       Node("n0", 4) + Group("g", "minMember: 2") + Pod("g-w-0", {.group = "g"}) +
           Pod("g-w-1", {.group = "g", .spec = ", schedulingGates: [{name: a/b}]"})},
      {"PodGroupNotFound",
       "1 pod waits for PodGroup default/absent, which does not exist",
       "default/absent",
       Node("n0", 4) + Pods("absent", 1)},
      {"UnknownTierName",
       "networkTopology.highestTierName: no HyperNode has tierName \"row\" (no HyperNode has a "
       "tierName)",
       "default/gang-gang",
       EightNodes("cpu: 1") + GangOf("gang", 1, "cpu: 1", "highestTierName: row")},
      {"UnknownTierName",
       "networkTopology.highestTierName: no HyperNode in the tree has tierName \"rack\": HyperNode "
       "ring has it, but is invalid and excluded",
       "default/gang-gang",
       Node("n0", 1) + Ring("ring") + GangOf("gang", 1, "cpu: 1", "highestTierName: rack")},
      {"TopologyPluginDisabled",
       "networkTopology mode hard needs the plugin network-topology-aware, which the scheduler "
       "configuration does not enable",
       "default/gang-gang",
       EightNodes("cpu: 1") + GangOf("gang", 1, "cpu: 1", "highestTierAllowed: 1"),
       "{name: predicates}"},
  };
}

// What no configured action does.
std::vector<Row> RowsOfActions() {
  const std::string plugins = "{name: predicates}";
  return {
      {"NoAction",
       "2/2 tasks in gang unschedulable: no action of the configuration (enqueue) places its "
       "pods; allocate does",
       "default/g",
       Node("n0", 4) + Group("g", "minMember: 2") + Pods("g", 2),
       plugins,
       0,
       "enqueue"},
      {"NoAction",
       "2/2 tasks in gang unschedulable: no action of the configuration (backfill) places its "
       "pods; allocate does",
       "default/g",
       Node("n0", 4) + Group("g", "minMember: 2") + Pods("g", 2),
       plugins,
       0,
       "backfill"},
      {"NoAction",
       "1/1 tasks unschedulable: no action of the configuration (backfill) admits it to its queue; "
       "enqueue does",
       "default/podgroup-p",
       Node("n0", 4) + Pod("p", {.cpu = ""}),
       plugins,
       0,
       "backfill"},
      {"NoAction",
       "1/1 tasks unschedulable: no action of the configuration (enqueue, allocate) places its "
       "BestEffort pods; backfill does",
       "default/podgroup-p",
       Node("n0", 4) + Pod("p", {.cpu = ""}),
       plugins,
       0,
       "enqueue, allocate"},
  };
}

// A full node, and a more important gang that wants the room of the one that runs there.
std::vector<Row> RowsOfEviction() {
  const auto important = [](const std::string& spec) {
    const std::string priority =
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: "
        "100\n---\n";
    return priority + Group("g", "minMember: 2, priorityClassName: high") +
           Pods("g", 2, {.spec = spec});
  };
  const auto runs = [](const std::string& meta) {
    return Node("n0", 2) + Group("low", "minMember: 2") +
           Pods("low", 2, {.meta = meta, .node = "n0"});
  };
  const std::string lacks =
      "2/2 tasks in gang unschedulable: 0 of 2 pods fit on the 1 node of the cluster: short of "
      "2 cpu (1 Insufficient cpu); ";
  return {
      {"NothingToEvict",
       lacks + "gangpreempt: it may evict nobody: 2 pods not preemptable",
       "default/g",
       runs(", labels: {volcano.sh/preemptable: \"false\"}") + important(""),
       "{name: predicates}",
       0,
       "enqueue, allocate, gangpreempt"},
      {"EvictionNotAllowed",
       lacks + "gangpreempt: pod default/g-w-0 has preemptionPolicy Never",
       "default/g",
       runs("") + important(", preemptionPolicy: Never"),
       "{name: predicates}",
       0,
       "enqueue, allocate, gangpreempt"},
      {"EvictionDryRun",
       lacks + "gangpreempt: would evict 1 gang, 2 pods",
       "default/g",
       runs("") + important(""),
       "{name: predicates}",
       0,
       "enqueue, allocate, gangpreempt",
       "dryRun: true"},
  };
}

std::vector<Row> AllRows() {
  std::vector<Row> rows = RowsOfPlaces();
  for (const auto& more : {RowsOfQueues(),
                           RowsOfNodeGroups(),
                           RowsOfNuma(),
                           RowsOfJobs(),
                           RowsOfActions(),
                           RowsOfEviction()}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

SchedulerConfig ConfigOf(const Row& row) {
  if (row.plugins.empty()) return DefaultSchedulerConfig();
  const std::string text = "actions: \"" + row.actions +
                           "\"\ntiers:\n- plugins: [{name: priority}, {name: gang}]\n- plugins: [" +
                           row.plugins + "]\n";
  const std::string arguments =
      row.arguments.empty()
          ? ""
          : "configurations: [{name: gangpreempt, arguments: {" + row.arguments + "}}]\n";
  return ParseSchedulerConf({"conf", text + arguments}).value().config;
}

class Waiting : public testing::TestWithParam<Row> {};

TEST_P(Waiting, HasItsReasonAndItsSentence) {
  auto cluster = BuildCluster(objects::MustLoad(GetParam().manifests));
  ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
  RunOptions options;
  if (GetParam().cycles > 0) options.cycles = GetParam().cycles;
  const auto result = RunCycles(*cluster, ConfigOf(GetParam()), options);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  const auto job = result->jobs.find(GetParam().job);
  ASSERT_NE(job, result->jobs.end());
  EXPECT_EQ(job->second.reason, GetParam().reason);
  EXPECT_EQ(job->second.message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Ways, Waiting, testing::ValuesIn(AllRows()), [](const auto& test) {
  return test.param.reason + "_" + std::to_string(test.index);
});

std::string TextOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::set<std::string> MatchesIn(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), regex);
       it != std::sregex_iterator();
       ++it) {
    found.insert((*it)[1].str());
  }
  return found;
}

const fs::path kRoot = STRATA_SOURCE;

std::set<std::string> ReasonsInTheTable() {
  std::set<std::string> reasons;
  for (const Row& row : AllRows()) reasons.insert(row.reason);
  reasons.insert("WaitingForTurn");     // only with a budget: src/sched/turns_test.cc
  reasons.insert("EvictionSearchCut");  // src/sched/actions/evict_rules_test.cc
  return reasons;
}

TEST(Reasons, EveryWordInTheSourcesIsInTheTable) {
  const std::string docs = TextOf(kRoot / "docs/reasons.md");
  const std::set<std::string> warnings =
      MatchesIn(docs.substr(docs.find("## Warnings")), "\\| `([A-Za-z]+)` \\|");
  EXPECT_THAT(warnings, testing::Not(testing::IsEmpty()));
  std::set<std::string> used;
  for (const char* folder : {"src/convert", "src/sched", "src/simulate", "src/whatif"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".cc") || name.ends_with("_test.cc")) continue;
      used.merge(MatchesIn(TextOf(entry.path()), "\"([A-Z][a-z]+(?:[A-Z][a-z]+)+)\""));
    }
  }
  // Why a GPU does not serve is a part of the sentence, in HAMi's words.
  const std::set<std::string> of_gpus =
      MatchesIn(TextOf(kRoot / "docs/gpu-topology.md"), "`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`");
  for (const auto& words : {warnings, of_gpus}) {
    for (const std::string& word : words) {
      EXPECT_EQ(used.erase(word), 1U) << word << " is documented, and nothing says it";
    }
  }
  for (const char* word : {"DisruptionTarget",
                           "DaemonSet",
                           "HyperNode",
                           "NoExecute",
                           "NoSchedule",
                           "PersistentVolume",
                           "PersistentVolumeClaim",
                           "PodDisruptionBudget",
                           "PodGroup",
                           "PodScheduled",
                           "PriorityClass",
                           "ReadWriteOncePod",
                           "ResourceQuota",
                           "StorageClass",
                           "TopologyManagerPolicy"}) {
    used.erase(word);  // Kubernetes'
  }
  used.erase("NotExplained");  // of the other jobs, where the reasons of one alone are worked out:
                               // never shown
  EXPECT_THAT(used, ElementsAreArray(ReasonsInTheTable()));
}

TEST(Reasons, TheDocumentHasEachOfThemAndNoOther) {
  const std::string docs = TextOf(kRoot / "docs/reasons.md");
  EXPECT_THAT(MatchesIn(docs, "\n### ([A-Za-z]+)\n"), ElementsAreArray(ReasonsInTheTable()));
  for (const std::string& reason : ReasonsInTheTable()) {
    std::string anchor = reason;
    for (char& c : anchor) c = static_cast<char>(std::tolower(c));
    EXPECT_THAT(docs, HasSubstr("\n| [" + reason + "](#" + anchor + ") | "));
  }
}

TEST(LeftOut, WhatVolcanoHasIsThereOrIsSaidToBeMissing) {
  const std::string docs = TextOf(kRoot / "docs/differences.md");
  for (const char* plugin : {"binpack",
                             "capacity",
                             "cdp",
                             "conformance",
                             "deviceshare",
                             "drf",
                             "extender",
                             "gang",
                             "network-topology-aware",
                             "nodegroup",
                             "nodeorder",
                             "numa-aware",
                             "overcommit",
                             "pdb",
                             "predicates",
                             "priority",
                             "proportion",
                             "rescheduling",
                             "resource-strategy-fit",
                             "resourcequota",
                             "sla",
                             "task-topology",
                             "tdm",
                             "usage"}) {
    EXPECT_NE(IsPlugin(plugin), IsVolcanoPlugin(plugin)) << plugin;
    if (IsPlugin(plugin)) continue;
    EXPECT_THAT(docs, HasSubstr("\n| `" + std::string(plugin) + "` | "));
  }
  for (const char* action : {"allocate",
                             "backfill",
                             "enqueue",
                             "gangpreempt",
                             "gangreclaim",
                             "preempt",
                             "reclaim",
                             "shuffle"}) {
    EXPECT_NE(FindAction(action) != nullptr, IsVolcanoAction(action)) << action;
    if (IsVolcanoAction(action)) {
      EXPECT_THAT(docs, HasSubstr("\n| `" + std::string(action) + "` | "));
    }
  }
}

TEST(Reasons, NoSentenceCountsOneOfSomethingInThePlural) {
  for (const Row& row : AllRows()) {
    EXPECT_TRUE(
        MatchesIn(row.message, "(?:^|[^/0-9])(1 (?:pods|nodes|tasks|sub-groups))\\b").empty())
        << row.message;
  }
}

}  // namespace
}  // namespace strata
