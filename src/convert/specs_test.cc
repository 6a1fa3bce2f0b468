#include "convert/specs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/test_support.h"

namespace strata {
namespace {

using objects::MustLoad;
using testing::ElementsAre;
using testing::StartsWith;

const objects::PriorityTable& NoClasses() {
  static const objects::PriorityTable table({});
  return table;
}

NodeSpec NodeFrom(std::string yaml) {
  ResourceNames names;
  return ToNodeSpec(MustLoad(std::move(yaml)).nodes.at(0), names).value();
}

TaskSpec TaskFrom(std::string yaml, const objects::PriorityTable& priorities = NoClasses()) {
  ResourceNames names;
  return ToTaskSpec(MustLoad(std::move(yaml)).pods.at(0), priorities, names).value();
}

std::string NodeWithCondition(const std::string& status) {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: n0}\nstatus:\n"
         "  allocatable: {cpu: 4, pods: 10}\n  conditions: [{type: Ready, status: \"" +
         status + "\"}]\n";
}

TEST(NodeSpecs, AReadyNodeHasNoTaintOfOurs) {
  const NodeSpec node = NodeFrom(NodeWithCondition("True"));
  EXPECT_TRUE(node.taints.empty());
  EXPECT_EQ(node.allocatable.Get(kCpu), 4000);
  EXPECT_EQ(node.allocatable.Get(kPods), 10);
}

TEST(NodeSpecs, ANodeThatIsNotReadyRepelsPods) {
  EXPECT_THAT(NodeFrom(NodeWithCondition("False")).taints,
              ElementsAre(Taint{"node.kubernetes.io/not-ready", "", TaintEffect::kNoSchedule}));
  EXPECT_THAT(NodeFrom(NodeWithCondition("Unknown")).taints,
              ElementsAre(Taint{"node.kubernetes.io/unreachable", "", TaintEffect::kNoSchedule}));
}

TEST(NodeSpecs, TheTaintIsNotGivenTwice) {
  const NodeSpec node = NodeFrom(
      "apiVersion: v1\nkind: Node\nmetadata: {name: n0}\n"
      "spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}\n"
      "status: {conditions: [{type: Ready, status: \"False\"}]}\n");
  EXPECT_EQ(node.taints.size(), 1U);
}

TEST(NodeSpecs, ANodeSilentAboutPodsTakesAsManyAsAKubeletDoes) {
  EXPECT_EQ(NodeFrom("apiVersion: v1\nkind: Node\nmetadata: {name: n0}\n"
                     "status: {allocatable: {cpu: 1}}\n")
                .allocatable.Get(kPods),
            110);
}

std::string PodText(const std::string& annotations,
                    const std::string& spec,
                    const std::string& rest = "") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {" + annotations + "}" +
         rest +
         "}\nspec:\n  containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]\n" +
         spec;
}

TEST(TaskSpecs, APodTakesOnePlaceOnItsNode) {
  const TaskSpec task = TaskFrom(PodText("", ""));
  EXPECT_EQ(task.name, "default/p");
  EXPECT_EQ(task.constraints.request.Get(kCpu), 500);
  EXPECT_EQ(task.constraints.request.Get(kPods), 1);
  EXPECT_EQ(task.constraints.nonzero_cpu, 500);
  EXPECT_EQ(task.constraints.nonzero_memory, 200 << 20);
  EXPECT_EQ(task.status, TaskStatus::kPending);
}

TEST(TaskSpecs, PriorityComesFromTheAnnotationThenTheSpecThenTheClassThenIsOne) {
  const objects::PriorityTable classes(
      MustLoad("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\n"
               "value: 70\n")
          .priority_classes);
  EXPECT_EQ(TaskFrom(PodText("volcano.sh/task-priority: \"9\"", "  priority: 5\n")).priority, 9);
  EXPECT_EQ(TaskFrom(PodText("volcano.sh/task-priority: \"x\"", "  priority: 5\n")).priority, 5);
  EXPECT_EQ(TaskFrom(PodText("", "  priorityClassName: high\n"), classes).priority, 70);
  EXPECT_EQ(TaskFrom(PodText("", "  priorityClassName: gone\n"), classes).priority, 1);
  EXPECT_EQ(TaskFrom(PodText("", "")).priority, 1);
}

TEST(TaskSpecs, StatusFollowsPhaseNodeAndDeletion) {
  const std::string deleted = ", deletionTimestamp: \"2026-01-01T00:00:00Z\"";
  const std::string on_node = "  nodeName: n0\n";
  const std::string running = on_node + "status: {phase: Running}\n";
  EXPECT_EQ(TaskFrom(PodText("", on_node)).status, TaskStatus::kBound);
  EXPECT_EQ(TaskFrom(PodText("", running)).status, TaskStatus::kRunning);
  EXPECT_EQ(TaskFrom(PodText("", running, deleted)).status, TaskStatus::kReleasing);
  EXPECT_EQ(TaskFrom(PodText("", on_node, deleted)).status, TaskStatus::kReleasing);
  EXPECT_EQ(TaskFrom(PodText("", on_node + "status: {phase: Succeeded}\n", deleted)).status,
            TaskStatus::kSucceeded);
  EXPECT_EQ(TaskFrom(PodText("", on_node + "status: {phase: Failed}\n")).status,
            TaskStatus::kFailed);
}

TEST(TaskSpecs, GatesAndHostPortsAreKept) {
  const TaskSpec task = TaskFrom(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
      "spec:\n  hostNetwork: true\n  schedulingGates: [{name: example.com/wait}]\n"
      "  containers: [{name: c, image: i, ports: [{containerPort: 80}]}]\n");
  EXPECT_TRUE(task.gated);
  ASSERT_EQ(task.constraints.host_ports.size(), 1U);
  EXPECT_EQ(task.constraints.host_ports[0].port, 80);
}

TEST(TaskSpecs, TolerationsInAnotherOrderAreTheSameClass) {
  const std::string a = "{key: a, operator: Exists}";
  const std::string b = "{key: b, operator: Exists}";
  EXPECT_EQ(TaskFrom(PodText("", "  tolerations: [" + a + ", " + b + "]\n")).constraints,
            TaskFrom(PodText("", "  tolerations: [" + b + ", " + a + "]\n")).constraints);
}

TEST(TaskSpecs, TheGroupIsNamedByEitherAnnotation) {
  const auto group = [](const std::string& annotations) {
    return GroupOf(MustLoad(PodText(annotations, "")).pods.at(0));
  };
  EXPECT_EQ(group("scheduling.k8s.io/group-name: a"), "default/a");
  EXPECT_EQ(group("scheduling.volcano.sh/group-name: b"), "default/b");
  EXPECT_EQ(group(""), "");
}

TEST(TaskSpecs, ATooLargeSumOfRequestsNamesTheField) {
  ResourceNames names;
  const objects::ObjectSet set = MustLoad(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
      "  - {name: a, image: i, resources: {requests: {memory: 8E}}}\n"
      "  - {name: b, image: i, resources: {requests: {memory: 8E}}}\n");
  const auto task = ToTaskSpec(set.pods.at(0), NoClasses(), names);
  ASSERT_FALSE(task.has_value());
  EXPECT_THAT(task.error().message,
              StartsWith("spec.containers: requests: memory: 16E is too large (want "));
}

TEST(JobSpecs, TheGlobalDefaultStandsInForAClassThatIsNotThere) {
  const objects::ObjectSet set = MustLoad(
      "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: base}\n"
      "value: 7\nglobalDefault: true\n---\n"
      "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: "
      "70\n---\n"
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: a}\n"
      "spec: {priorityClassName: high}\n---\n"
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: b}\n"
      "spec: {priorityClassName: gone}\n---\n"
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: c}\nspec: {}\n");
  const objects::PriorityTable classes(set.priority_classes);
  ResourceNames names;
  EXPECT_EQ(ToJobSpec(set.pod_groups.at(0), classes, names)->priority, 70);
  EXPECT_EQ(ToJobSpec(set.pod_groups.at(1), classes, names)->priority, 7);
  EXPECT_EQ(ToJobSpec(set.pod_groups.at(2), classes, names)->priority, 7);
}

TEST(JobSpecs, EverythingOfThePodGroupIsThere) {
  ResourceNames names;
  const objects::ObjectSet set = MustLoad(R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: pg}
spec:
  minMember: 4
  minTaskMember: {worker: 2}
  queue: research
  minResources: {cpu: 8, pods: 4}
  networkTopology: {mode: Hard, highestTierName: rack}
  subGroupPolicy:
  - name: tp
    subGroupSize: 2
    minSubGroups: 2
    matchLabelKeys: [part]
    networkTopology: {mode: soft, highestTierAllowed: 1}
status: {phase: Inqueue}
)");
  const JobSpec job = ToJobSpec(set.pod_groups.at(0), NoClasses(), names).value();
  EXPECT_EQ(job.name, "default/pg");
  EXPECT_EQ(job.queue, "research");
  EXPECT_EQ(job.min_available, 4);
  EXPECT_EQ(job.min_task_member.at("worker"), 2);
  EXPECT_EQ(job.min_resources->Get(kCpu), 8000);
  EXPECT_EQ(job.topology, (TopologySpec{TopologySpec::Mode::kHard, std::nullopt, "rack"}));
  ASSERT_EQ(job.sub_groups.size(), 1U);
  EXPECT_EQ(job.sub_groups[0].size, 2);
  EXPECT_EQ(job.sub_groups[0].min_sub_groups, 2);
  EXPECT_EQ(job.sub_groups[0].topology, (TopologySpec{TopologySpec::Mode::kSoft, 1, ""}));
  EXPECT_EQ(job.phase, JobPhase::kInqueue);
}

// Whatever the condition says by now: Volcano and Strata write it when a gang has its minimum.
TEST(JobSpecs, AGangWasWholeIfItRunsOrHasBeenScheduled) {
  const auto was_whole = [](const std::string& status) {
    ResourceNames names;
    const objects::ObjectSet set = MustLoad(R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: pg}
spec: {minMember: 4}
status: )" + status);
    return ToJobSpec(set.pod_groups.at(0), NoClasses(), names)->was_whole;
  };
  EXPECT_FALSE(was_whole("{phase: Inqueue}"));
  EXPECT_FALSE(
      was_whole("{phase: Unknown, conditions: [{type: Unschedulable, status: \"True\"}]}"));
  EXPECT_TRUE(was_whole("{phase: Unknown, conditions: [{type: Scheduled, status: \"False\"}]}"));
  EXPECT_TRUE(was_whole("{phase: Running}"));
}

TEST(QueueSpecs, OnlyAnOpenQueueIsOpen) {
  const auto open = [](const std::string& state) {
    ResourceNames names;
    const objects::ObjectSet set = MustLoad(
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\n"
        "spec: {weight: 3, capability: {cpu: 0}}\nstatus: {state: " +
        state + "}\n");
    return ToQueueSpec(set.queues.at(0), names)->open;
  };
  EXPECT_TRUE(open("Open"));
  EXPECT_FALSE(open("Closed"));
  EXPECT_FALSE(open("Closing"));
  EXPECT_FALSE(open("Unknown"));
}

TEST(QueueSpecs, KeepWhatTheQueueSaysOfNodeGroups) {
  ResourceNames names;
  const QueueSpec spec =
      ToQueueSpec(MustLoad("apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
                           "metadata: {name: q, annotations: "
                           "{volcano.sh/nodegroup-resource-limits: '{\"a\": {\"cpu\": \"2\"}}'}}\n"
                           "spec: {affinity: {nodeGroupAffinity: "
                           "{requiredDuringSchedulingIgnoredDuringExecution: [a], "
                           "preferredDuringSchedulingIgnoredDuringExecution: [b, c]}, "
                           "nodeGroupAntiAffinity: "
                           "{requiredDuringSchedulingIgnoredDuringExecution: [d], "
                           "preferredDuringSchedulingIgnoredDuringExecution: [e]}}}\n")
                      .queues.at(0),
                  names)
          .value();
  EXPECT_EQ(spec.node_groups,
            (NodeGroupTerms{.required = {"a"},
                            .preferred = {"b", "c"},
                            .anti_required = {"d"},
                            .anti_preferred = {"e"}}));
  EXPECT_EQ(spec.node_group_limits.at("a").at(kCpu), 2000);
}

TEST(QueueSpecs, KeepTheWordOfTheStateAndTheHierarchyOfAnnotations) {
  ResourceNames names;
  const objects::ObjectSet set = MustLoad(
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata:\n  name: q\n  "
      "annotations: "
      "{volcano.sh/hierarchy: root/a/q, volcano.sh/hierarchy-weights: 1/2/8}\n"
      "status: {state: Closing}\n");
  const QueueSpec queue = ToQueueSpec(set.queues.at(0), names).value();
  EXPECT_EQ(queue.state, "Closing");
  EXPECT_EQ(queue.hierarchy, "root/a/q");
  EXPECT_EQ(queue.hierarchy_weights, "1/2/8");
}

Result<JobSpec> JobWithAnnotation(const std::string& annotation) {
  ResourceNames names;
  const objects::ObjectSet set = MustLoad(
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: pg, "
      "annotations: {" +
      annotation + "}}\nspec: {minMember: 1}\n");
  return ToJobSpec(set.pod_groups.at(0), NoClasses(), names);
}

TEST(JobSpecs, AWaitingTimeIsADurationAboveZero) {
  EXPECT_EQ(JobWithAnnotation("other: x")->sla_waiting_time, std::nullopt);
  EXPECT_EQ(JobWithAnnotation("sla-waiting-time: 1h30m")->sla_waiting_time,
            std::chrono::minutes(90));
  EXPECT_EQ(JobWithAnnotation("volcano.sh/sla-waiting-time: 5s")->sla_waiting_time,
            std::chrono::seconds(5));
  EXPECT_EQ(JobWithAnnotation("sla-waiting-time: soon").error().message,
            "metadata.annotations.sla-waiting-time: want a duration such as 1h30m or 300ms, found "
            "\"soon\"");
  EXPECT_EQ(JobWithAnnotation("sla-waiting-time: 0s").error().message,
            "metadata.annotations.sla-waiting-time: want a duration above 0, found \"0s\"");
}

TEST(QuotaSpecs, RequestsCountAsTheResourceAndLimitsUnderTheirOwnName) {
  ResourceNames names;
  const objects::ObjectSet set = MustLoad(
      "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: cores, namespace: team}\n"
      "spec: {hard: {requests.cpu: 5, limits.cpu: 9, limits.memory: 1Ki, count/pods: 7, "
      "count/jobs: 1, pods: 3}}\n"
      "status: {used: {requests.cpu: 500m, limits.cpu: 2}}\n");
  const QuotaSpec quota = ToQuotaSpec(set.quotas.at(0), names).value();
  EXPECT_EQ(quota.name, "team/cores");
  const auto id = [&](const char* name) { return names.InternAsked(name); };
  EXPECT_EQ(quota.hard,
            (ResourceLimits{{kCpu, 5000},
                            {kPods, 3},
                            {id("limits.cpu"), 9000},
                            {id("limits.memory"), 1024},
                            {id("count/pods"), 7}}));
  EXPECT_EQ(quota.used.Get(kCpu), 500);
  EXPECT_EQ(quota.used.Get(id("limits.cpu")), 2000);
  EXPECT_TRUE(quota.gpus.empty());
}

TEST(QuotaSpecs, LimitsOfGpusAreKeptApart) {
  ResourceNames names;
  const auto quota = [&](const std::string& hard) {
    const objects::ObjectSet set = MustLoad(
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: gpus, namespace: team}\n"
        "spec: {hard: {" +
        hard + "}}\n");
    return ToQuotaSpec(set.quotas.at(0), names);
  };
  const GpuLimits limits =
      quota(
          "limits.nvidia.com/gpu: 4, limits.nvidia.com/gpumem: 80k, limits.nvidia.com/gpucores: 0")
          ->gpus;
  EXPECT_EQ(limits.gpus, 4);
  EXPECT_EQ(limits.memory_mib, 80'000);
  EXPECT_EQ(limits.cores, 0);
  EXPECT_FALSE(quota("limits.nvidia.com/gpumem: 8")->gpus.cores.has_value());
}

}  // namespace
}  // namespace strata
