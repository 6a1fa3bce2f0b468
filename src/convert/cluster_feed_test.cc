#include "convert/cluster_feed.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/test_support.h"

namespace strata {
namespace {

constexpr const char* kPodOnNode = R"(
apiVersion: v1
kind: Node
metadata: {name: node0}
status: {allocatable: {cpu: 8}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: ns}
spec: {minMember: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ns, uid: u, annotations: {scheduling.k8s.io/group-name: g}}
spec: {schedulerName: volcano, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}
)";

bool TakesAll(const objects::Pod& /*pod*/) {
  return true;
}

// A feed with the objects above.
struct Fed {
  explicit Fed(std::string default_queue = kDefaultQueue)
      : feed(state, TakesAll, std::move(default_queue)) {
    EXPECT_TRUE(feed.Apply(objects::MustLoad(kPodOnNode)));
    std::vector<std::string> problems;
    feed.Settle(problems);
    EXPECT_THAT(problems, testing::IsEmpty());
  }
  // Decides that ns/p goes to node0, as a cycle does.
  void BindThePod() {
    const TaskId task =
        state.workload().job(*state.workload().FindJob("ns/g")).sub_jobs[0].tasks[0];
    state.journal().Allocate(task, *state.nodes().Find("node0"));
    state.journal().Commit();
    feed.Assume(task);
  }
  [[nodiscard]] Amount CpuInUse() const {
    return state.nodes().Used(*state.nodes().Find("node0"))[kCpu.index()];
  }
  ClusterState state;
  ClusterFeed feed;
};

// A feed whose pod runs on node0, and what its object says afterwards.
struct FedWithRunningPod : Fed {
  FedWithRunningPod() { Say("phase: Running"); }
  void Say(const std::string& status, const std::string& meta = "") {
    const std::string pod =
        "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, uid: u, annotations: "
        "{scheduling.k8s.io/group-name: g}" +
        meta +
        "}, spec: {schedulerName: volcano, nodeName: node0, containers: [{name: c, image: i, "
        "resources: {requests: {cpu: 1}}}]}, status: {" +
        status + "}}";
    EXPECT_TRUE(feed.Apply(objects::MustLoad(pod)));
  }
  [[nodiscard]] TaskStatus StatusOfPod() const {
    return state.workload().task(*feed.FindTask("ns/p")).status;
  }
};

TEST(ClusterFeed, AnEvictedPodIsOnItsWayOutWhateverItsObjectSays) {
  FedWithRunningPod fed;
  ASSERT_EQ(fed.StatusOfPod(), TaskStatus::kRunning);
  fed.feed.Evict(*fed.feed.FindTask("ns/p"));
  EXPECT_EQ(fed.StatusOfPod(), TaskStatus::kReleasing);
  fed.Say("phase: Running, conditions: [{type: Ready, status: 'False'}]");
  EXPECT_EQ(fed.StatusOfPod(), TaskStatus::kReleasing);
  fed.feed.KeepPod("ns/p", "another");
  EXPECT_EQ(fed.StatusOfPod(), TaskStatus::kReleasing);
  fed.feed.KeepPod("ns/p", "u");
  EXPECT_EQ(fed.StatusOfPod(), TaskStatus::kRunning);
}

TEST(ClusterFeed, APodThatEndsWellWhileItIsEvictedIsOnItsWayOut) {
  FedWithRunningPod fed;
  const std::string evicted =
      "phase: Succeeded, conditions: [{type: DisruptionTarget, status: 'True', reason: "
      "PreemptionByScheduler}]";
  fed.Say(evicted, ", deletionTimestamp: 2026-08-20T10:00:00Z");
  EXPECT_EQ(fed.StatusOfPod(), TaskStatus::kReleasing);
}

TEST(ClusterFeed, OperatorsSwitchEvictionsOffByQueueAndByNamespace) {
  const std::string queue =
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: default%}}";
  const std::string ns = "{apiVersion: v1, kind: Namespace, metadata: {name: ns%}}";
  for (const std::string& object : {queue, ns}) {
    Fed fed;
    const auto spared_with = [&](const std::string& annotations) {
      std::string text = object;
      text.replace(text.find('%'), 1, annotations);
      EXPECT_TRUE(fed.feed.Apply(objects::MustLoad(text)));
      std::vector<std::string> problems;
      fed.feed.Settle(problems);
      const auto job = fed.state.workload().FindJob("ns/g");
      return fed.state.workload().job(*job).spec.preemptable == false;
    };
    EXPECT_FALSE(spared_with(""));
    EXPECT_TRUE(spared_with(", annotations: {strata.sh/evict: 'false'}")) << object;
    EXPECT_FALSE(spared_with(", annotations: {strata.sh/evict: 'true'}"));
    EXPECT_TRUE(spared_with(", annotations: {strata.sh/evict: 'no'}"))
        << "what is not a boolean protects";
    fed.feed.Remove(
        object == queue ? "Queue" : "Namespace", "", object == queue ? "default" : "ns");
    std::vector<std::string> problems;
    fed.feed.Settle(problems);
    EXPECT_EQ(fed.state.workload().job(*fed.state.workload().FindJob("ns/g")).spec.preemptable,
              std::nullopt);
  }
}

TEST(ClusterFeed, AGroupThatNamesNoQueueIsInTheDefaultOne) {
  Fed usual;
  EXPECT_EQ(
      usual.feed.state().workload().job(*usual.feed.state().workload().FindJob("ns/g")).spec.queue,
      "default");
  Fed fed("team");
  EXPECT_EQ(
      fed.feed.state().workload().job(*fed.feed.state().workload().FindJob("ns/g")).spec.queue,
      "team");
  EXPECT_EQ(fed.feed.Objects().pod_groups[0].queue, "team");
}

TEST(ClusterFeed, ABudgetThatComesLaterSelectsThePodsThatAreThere) {
  Fed fed;
  const auto group = [&] {
    std::vector<std::string> problems;
    fed.feed.Settle(problems);
    return fed.state.workload().task(*fed.feed.FindTask("ns/p")).disruption.budgets;
  };
  EXPECT_EQ(group(), 0U);
  EXPECT_TRUE(fed.feed.Apply(objects::MustLoad(
      "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: ns}\n"
      "spec: {maxUnavailable: 25%, selector: {}}\n"
      "status: {disruptionsAllowed: 2, disruptedPods: {x: \"2026-01-01T00:00:00Z\"}}\n")));
  ASSERT_NE(group(), 0U);
  const BudgetSpec budget = *fed.state.budgets().In(group()).at(0);
  EXPECT_EQ(budget.max_unavailable, (BudgetSpec::Amount{.number = 25, .percent = true}));
  EXPECT_EQ(budget.allowed, 2);
  EXPECT_THAT(budget.disrupted, testing::ElementsAre("ns/x"));
  EXPECT_EQ(fed.feed.Objects().disruption_budgets.size(), 1U);
  fed.feed.Remove("PodDisruptionBudget", "ns", "b");
  EXPECT_EQ(group(), 0U);
}

TEST(ClusterFeed, APodThatIsBeingBoundIsOnItsNodeInACopyOfTheObjects) {
  Fed fed;
  EXPECT_EQ(fed.feed.Objects().pods[0].spec.node_name, "");
  fed.BindThePod();
  EXPECT_EQ(fed.feed.Objects().pods[0].spec.node_name, "node0");
  fed.feed.Forget("ns/p", "u");
  EXPECT_EQ(fed.feed.Objects().pods[0].spec.node_name, "");
}

TEST(ClusterFeed, APodOnANodeIsThereWhateverRulesItBreaks) {
  Fed fed;
  const Status applied = fed.feed.Apply(objects::MustLoad(
      "{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: ns, labels: {a: -b}}, spec: "
      "{nodeName: node0, tolerations: [{key: a, operator: Foo}], containers: [{name: c, resources: "
      "{requests: {cpu: 2, memory: 7Ei}}}, {name: c, resources: {requests: {cpu: 1, memory: "
      "7Ei}}}]}, status: {phase: Running}}"));
  ASSERT_TRUE(applied.has_value()) << applied.error().message;
  const ClusterState& state = fed.feed.state();
  EXPECT_EQ(state.nodes().Idle(*state.nodes().Find("node0"))[kCpu.index()], 5000);
}

// A pod of `group` that asks for `memory`; its uid is "u".
std::string PodOf(const std::string& name, const std::string& group, const std::string& memory) {
  return "{apiVersion: v1, kind: Pod, metadata: {name: " + name +
         ", namespace: ns, uid: u, annotations: {scheduling.k8s.io/group-name: " + group +
         "}}, spec: {schedulerName: volcano, containers: [{name: c, image: i, resources: "
         "{requests: {cpu: 1, memory: " +
         memory + "}}}]}}";
}

// The names of the tasks of job ns/g.
std::vector<std::string> TasksOfG(const ClusterState& state) {
  std::vector<std::string> names;
  for (const SubJob& part : state.workload().job(*state.workload().FindJob("ns/g")).sub_jobs) {
    for (const TaskId task : part.tasks) names.push_back(state.workload().task(task).name);
  }
  return names;
}

// The same pod with a NUMA policy that does not exist.
std::string InvalidPodOf(const std::string& group) {
  std::string pod = PodOf("p", group, "1Gi");
  return pod.insert(pod.find("scheduling.k8s.io"), "volcano.sh/numa-topology-policy: many, ");
}

TEST(ClusterFeed, KeepsThePreviousVersionOfAPodWhenAnUpdateIsInvalid) {
  Fed fed;
  ASSERT_TRUE(fed.feed.Apply(objects::MustLoad(
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: h, namespace: "
      "ns}, spec: {minMember: 1}}")));
  for (const std::string group : {"g", "h"}) {
    EXPECT_FALSE(fed.feed.Apply(objects::MustLoad(InvalidPodOf(group))));
    EXPECT_THAT(TasksOfG(fed.feed.state()), testing::ElementsAre("ns/p")) << "group " << group;
    EXPECT_EQ(fed.feed.FindPod("ns/p")->spec.containers[0].requests.count("memory"), 0U);
  }
}

TEST(ClusterFeed, KeepsABindUnderWayWhenAnUpdateOfThePodIsInvalid) {
  //   the pod may be on its node by now, and there it counts whatever rule it breaks
  Fed fed;
  fed.BindThePod();
  const Status updated = fed.feed.Apply(objects::MustLoad(InvalidPodOf("g")));
  EXPECT_TRUE(updated.has_value()) << updated.error().message;
  EXPECT_EQ(fed.feed.assumed(), 1U);
  EXPECT_THAT(TasksOfG(fed.feed.state()), testing::ElementsAre("ns/p"));
  EXPECT_EQ(fed.CpuInUse(), 1000);
}

TEST(ClusterFeed, SeesABindInAnUpdateThatIsInvalid) {
  Fed fed;
  fed.BindThePod();
  std::string bound = InvalidPodOf("g");
  bound.insert(bound.find("schedulerName"), "nodeName: node0, ");
  EXPECT_TRUE(fed.feed.Apply(objects::MustLoad(bound)));
  EXPECT_EQ(fed.feed.assumed(), 0U);
  EXPECT_EQ(fed.CpuInUse(), 1000);
}

TEST(ClusterFeed, GivesTheRoomOfAFailedBindBackWhenThePodIsInvalidByThen) {
  Fed fed;
  fed.BindThePod();
  ASSERT_TRUE(fed.feed.Apply(objects::MustLoad(InvalidPodOf("g"))));
  fed.feed.Forget("ns/p", "u");
  EXPECT_THAT(TasksOfG(fed.feed.state()), testing::IsEmpty());
  EXPECT_EQ(fed.CpuInUse(), 0);
  std::vector<std::string> problems;
  fed.feed.Settle(problems);
  EXPECT_THAT(problems, testing::ElementsAre(testing::HasSubstr("numa-topology-policy")));
}

TEST(ClusterFeed, WhatWaitsDoesNotKeepOtherPodsOut) {
  //   31 pods that no node can hold: 2^32 to 2^62 bytes, 2^63 - 2^32 together
  Fed fed;
  for (unsigned i = 32; i <= 62; ++i) {
    const std::string memory = std::to_string(std::uint64_t{1} << i);
    ASSERT_TRUE(fed.feed.Apply(objects::MustLoad(PodOf("huge" + std::to_string(i), "g", memory))));
  }
  const Status waits = fed.feed.Apply(objects::MustLoad(PodOf("small", "g", "4Gi")));
  EXPECT_TRUE(waits.has_value()) << waits.error().message;
  std::string runs = PodOf("runs", "g", "4Gi");
  runs.insert(runs.find("schedulerName"), "nodeName: node0, ");
  const Status on_node = fed.feed.Apply(objects::MustLoad(runs));
  EXPECT_TRUE(on_node.has_value()) << on_node.error().message;
  EXPECT_TRUE(fed.feed.FindTask("ns/small"));
  EXPECT_EQ(fed.state.nodes().Used(*fed.state.nodes().Find("node0"))[kMemory.index()],
            Amount{4} << 30U);
}

TEST(ClusterFeed, KeepsABindUnderWayWhenThePodChangesItsGroup) {
  Fed fed;
  fed.BindThePod();
  ASSERT_TRUE(fed.feed.Apply(objects::MustLoad(PodOf("p", "other", "1Gi"))));
  EXPECT_EQ(fed.feed.assumed(), 1U);
  EXPECT_THAT(TasksOfG(fed.feed.state()), testing::IsEmpty());
  EXPECT_EQ(fed.CpuInUse(), 1000);
}

// The amounts of 20,000 resources that do not exist, as JSON: YAML takes ten times as long to read.
std::string InventedAmounts() {
  std::string list = "{";
  for (int i = 0; i < 20'000; ++i) {
    list += "\"example.com/invented-" + std::to_string(i) + "\": \"1\", ";
  }
  return list + "\"cpu\": \"1\"}";
}

TEST(ClusterFeed, NamesThatNoNodeHasCostNothingPerNodeAndGoWithTheirLastUser) {
  Fed fed;
  const std::string amounts = InventedAmounts();
  const std::string volcano = R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": )";
  const std::string meta = R"("metadata": {"namespace": "ns", "name": "user")";
  const std::vector<std::string> users = {
      R"({"apiVersion": "v1", "kind": "Pod", )" + meta +
          R"(, "annotations": {"scheduling.k8s.io/group-name": "g"}}, "spec": {"containers": )"
          R"([{"name": "c", "image": "i", "resources": {"requests": )" +
          amounts + "}}]}}",
      volcano + R"("PodGroup", )" + meta + R"(}, "spec": {"minMember": 1, "minResources": )" +
          amounts + "}}",
      R"({"apiVersion": "v1", "kind": "ResourceQuota", )" + meta + R"(}, "spec": {"hard": )" +
          amounts + "}}",
      volcano + R"("Queue", "metadata": {"name": "user"}, "spec": {"capability": )" + amounts +
          "}}"};
  const std::vector<std::string> kinds = {"Pod", "PodGroup", "ResourceQuota", "Queue"};
  const NodeId node = *fed.state.nodes().Find("node0");
  const std::size_t slots = fed.state.nodes().Allocatable(node).size();
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < users.size(); ++i) {
    ASSERT_TRUE(fed.feed.Apply(objects::MustLoad(users[i])));
    fed.feed.Settle(problems);
    EXPECT_EQ(fed.state.nodes().Allocatable(node).size(), slots) << kinds[i];
    EXPECT_EQ(fed.state.resource_names().absent_count(), 20'000U) << kinds[i];
    fed.feed.Remove(kinds[i], kinds[i] == "Queue" ? "" : "ns", "user");
    fed.feed.Settle(problems);
    EXPECT_EQ(fed.state.resource_names().absent_count(), 0U) << kinds[i];
    EXPECT_EQ(fed.state.classes().idle_count(), 0U) << kinds[i];
  }
  EXPECT_THAT(problems, testing::IsEmpty());
}

TEST(ClusterFeed, NamesThatAreUsedLeaveWhatIsKnownOfOtherPods) {
  //   a pod waits with a hundred invented names, and another pod goes: its class is kept
  Fed fed;
  std::string names;
  for (int i = 0; i < 100; ++i) names += "example.com/invented-" + std::to_string(i) + ": 1, ";
  std::string pod = PodOf("waits", "g", "0");
  ASSERT_TRUE(fed.feed.Apply(objects::MustLoad(pod.insert(pod.find("memory"), names))));
  std::vector<std::string> problems;
  fed.feed.Settle(problems);
  const std::uint64_t epoch = fed.state.classes().epoch();
  fed.feed.Remove("Pod", "ns", "p");
  fed.feed.Settle(problems);
  EXPECT_EQ(fed.state.classes().epoch(), epoch);
  EXPECT_EQ(fed.state.resource_names().absent_count(), 100U);
}

TEST(ClusterFeed, APodMayAskForAResourceBeforeAnyNodeHasIt) {
  Fed fed;
  std::string pod = PodOf("early", "g", "0");
  ASSERT_TRUE(
      fed.feed.Apply(objects::MustLoad(pod.insert(pod.find("memory"), "example.com/fpga: 1, "))));
  const auto task = [&] { return fed.state.workload().task(*fed.feed.FindTask("ns/early")); };
  EXPECT_TRUE(task().IsOversized());
  ASSERT_TRUE(fed.feed.Apply(objects::MustLoad(
      "{apiVersion: v1, kind: Node, metadata: {name: node1}, status: {allocatable: {cpu: 8, "
      "example.com/fpga: 2}}}")));
  std::vector<std::string> problems;
  fed.feed.Settle(problems);
  const NodeId node = *fed.state.nodes().Find("node1");
  EXPECT_FALSE(task().IsOversized());
  EXPECT_TRUE(
      fed.state.classes().spec(task().class_id).request.FitsIn(fed.state.nodes().Idle(node)));
}

TEST(ClusterFeed, ALabelThatAPolicyAsksForBindsAPodAsSoonAsItIsThere) {
  Fed fed;
  const auto group = [](const std::string& key) {
    return "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g, "
           "namespace: ns}, spec: {minMember: 1, subGroupPolicy: [{name: s, matchLabelKeys: [" +
           key + "], networkTopology: {mode: hard, highestTierAllowed: 1}}]}}";
  };
  std::vector<std::string> problems;
  ASSERT_TRUE(fed.feed.Apply(objects::MustLoad(group("part"))));
  fed.feed.Settle(problems);
  const ClusterState& state = fed.feed.state();
  const auto missed = [&] {
    const Job& job = state.workload().job(*state.workload().FindJob("ns/g"));
    return job.sub_jobs[0].tasks.empty()
               ? std::nullopt
               : state.workload().task(job.sub_jobs[0].tasks[0]).missed_policy;
  };
  EXPECT_EQ(missed(), 0U);
  ASSERT_TRUE(fed.feed.Apply(objects::MustLoad(
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, uid: u, labels: {part: x}, "
      "annotations: {scheduling.k8s.io/group-name: g}}, spec: {schedulerName: volcano, containers: "
      "[{name: c, image: i, resources: {requests: {cpu: 1}}}]}}")));
  fed.feed.Settle(problems);
  EXPECT_EQ(missed(), std::nullopt);
}

// A node with two GPUs that ten containers may share each, of this size; 0: it registers none.
std::string SharingNode(int memory_mib) {
  const std::string gpu =
      R"("count":10,"devcore":100,"health":true,"devmem":)" + std::to_string(memory_mib);
  const std::string gpus =
      R"([{"id":"GPU-0",)" + gpu + R"(},{"id":"GPU-1","index":1,)" + gpu + "}]";
  return "apiVersion: v1\nkind: Node\nmetadata:\n  name: node0\n" +
         (memory_mib == 0 ? ""
                          : "  annotations: {hami.io/node-nvidia-register: '" + gpus + "'}\n") +
         "status: {allocatable: {cpu: 8, nvidia.com/gpu: 20}}\n";
}

TEST(ClusterFeed, CountsSharesByTheGpusThatNodesRegisterNow) {
  ClusterState state;
  ClusterFeed feed(state, TakesAll);
  std::vector<std::string> problems;
  const auto apply = [&](const std::string& text) {
    EXPECT_TRUE(feed.Apply(objects::MustLoad(text)));
    feed.Settle(problems);
    EXPECT_THAT(problems, testing::IsEmpty());
  };
  apply(SharingNode(0));
  const auto pod = [](const std::string& name, const std::string& rest) {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           ", namespace: ns, annotations: {scheduling.k8s.io/group-name: g, "
           "hami.io/vgpu-devices-allocated: 'GPU-1,NVIDIA,20000,0:;'}}\n"
           "spec: {schedulerName: volcano, containers: [{name: c, image: i, resources: {limits: "
           "{nvidia.com/gpumem: 20000, nvidia.com/gpucores: 10}}}]" +
           rest + "}\n";
  };
  apply(
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
      "metadata: {name: g, namespace: ns}\nspec: {minMember: 1}\n" +
      pod("waits", "") + pod("runs", ", nodeName: node0"));
  const ResourceId gpu = *state.resource_names().Find("nvidia.com/gpu");
  const auto counted = [&] {
    const Queue& queue = state.workload().queue(*state.workload().FindQueue("default"));
    return std::vector<Amount>{
        queue.pending.Clamped().Get(gpu),
        queue.allocated.Get(gpu),
        state.nodes().Allocatable(*state.nodes().Find("node0"))[gpu.index()]};
  };
  EXPECT_THAT(counted(), testing::ElementsAre(1000, 1000, 20'000));
  apply(SharingNode(80'000));
  EXPECT_THAT(counted(), testing::ElementsAre(250, 250, 2000));
  apply(SharingNode(40'000));
  EXPECT_THAT(counted(), testing::ElementsAre(500, 500, 2000));
  apply(SharingNode(0));
  EXPECT_THAT(counted(), testing::ElementsAre(1000, 1000, 20'000));
}

}  // namespace
}  // namespace strata
