#include "convert/load_cluster.h"

#include <cstdint>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/test_support.h"

namespace strata {
namespace {

using objects::MustLoad;
using testing::EndsWith;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

bool TakesVolcano(const objects::Pod& pod) {
  return pod.spec.scheduler_name == "volcano";
}

struct Loaded {
  ClusterState state;
  LoadReport report;

  explicit Loaded(const std::string& yaml) {
    auto loaded = LoadCluster(MustLoad(yaml), TakesVolcano, state);
    EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
    report = std::move(*loaded);
  }
};

Loaded Load(const std::string& yaml) {
  return Loaded(yaml);
}

std::string GpuPod(const std::string& ns) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: " + ns +
         "}\nspec: {nodeName: n0, containers: [{name: c, image: i, resources: {limits: "
         "{nvidia.com/gpu: 1}}}]}\nstatus: {phase: Running}\n---\n";
}

constexpr const char* kNode =
    "apiVersion: v1\nkind: Node\nmetadata: {name: n0}\nstatus: {allocatable: {cpu: 8, pods: "
    "10}}\n---\n";
constexpr const char* kGroup =
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: pg}\n"
    "spec: {minMember: 1}\n---\n";

// A pod of one CPU; `more` goes into its spec.
std::string Pod(const std::string& name,
                const std::string& scheduler,
                const std::string& group,
                const std::string& more = "",
                const std::string& deleted = "") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         ", annotations: {scheduling.k8s.io/group-name: \"" + group + "\"}" + deleted +
         "}\nspec:\n  schedulerName: " + scheduler +
         "\n  containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]\n" + more +
         "---\n";
}

constexpr const char* kOnNode = "  nodeName: n0\nstatus: {phase: Running}\n";
constexpr const char* kDeleted = ", deletionTimestamp: \"2026-01-01T00:00:00Z\"";

TEST(LoadCluster, AQueueDefaultIsAlwaysThere) {
  const Loaded loaded = Load(kNode);
  const auto queue = loaded.state.workload().FindQueue("default");
  ASSERT_TRUE(queue.has_value());
  EXPECT_EQ(loaded.state.workload().queue(*queue).spec.weight, 1);
}

TEST(LoadCluster, PodsOfAGroupBecomeTasksOfItsJob) {
  const Loaded loaded = Load(std::string(kNode) + kGroup + Pod("a", "volcano", "pg") +
                             Pod("b", "volcano", "pg", kOnNode));
  const Job& job = loaded.state.workload().job(*loaded.state.workload().FindJob("default/pg"));
  EXPECT_EQ(job.counts.Of(TaskStatus::kPending), 1);
  EXPECT_EQ(job.counts.Of(TaskStatus::kRunning), 1);
  EXPECT_EQ(loaded.state.nodes().Used(*loaded.state.nodes().Find("n0"))[kCpu.index()], 1000);
}

TEST(LoadCluster, BoundPodsOfOthersTakeRoomAndPendingOnesDoNotExist) {
  const Loaded loaded =
      Load(std::string(kNode) + Pod("bound", "other", "", kOnNode) + Pod("waiting", "other", ""));
  const auto tasks = loaded.state.workload().AllTasks();
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(loaded.state.workload().task(tasks[0]).name, "default/bound");
  EXPECT_FALSE(loaded.state.workload().task(tasks[0]).job.valid());
  EXPECT_THAT(loaded.report.missing_groups, IsEmpty());
}

TEST(LoadCluster, PodsThatWaitForAMissingGroupAreReported) {
  const Loaded loaded = Load(std::string(kNode) + Pod("a", "volcano", "gone") +
                             Pod("b", "volcano", "gone") + Pod("c", "volcano", "lost", kOnNode));
  ASSERT_THAT(loaded.report.missing_groups, SizeIs(1));
  EXPECT_EQ(loaded.report.missing_groups[0].name, "default/gone");
  EXPECT_EQ(loaded.report.missing_groups[0].pods, 2U);
  EXPECT_THAT(loaded.state.workload().AllTasks(), SizeIs(1))
      << "the pod on a node takes room all the same";
}

TEST(LoadCluster, TerminatingPodsAreNamedAndThoseWithoutANodeLeftOut) {
  const Loaded loaded =
      Load(std::string(kNode) + kGroup + Pod("a", "volcano", "pg", kOnNode, kDeleted) +
           Pod("b", "volcano", "pg", "", kDeleted));
  ASSERT_THAT(loaded.report.terminating, SizeIs(1));
  const Task& task = loaded.state.workload().task(loaded.report.terminating[0]);
  EXPECT_EQ(task.name, "default/a");
  EXPECT_EQ(task.status, TaskStatus::kReleasing);
  EXPECT_THAT(loaded.state.workload().AllTasks(), SizeIs(1));
}

TEST(LoadCluster, ResourcesAreNumberedByNameWhateverTheOrderOfTheInput) {
  const Loaded loaded = Load(
      "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {z.io/z: 1}}\n---\n"
      "apiVersion: v1\nkind: Node\nmetadata: {name: b}\nstatus: {allocatable: {a.io/a: 1}}\n");
  EXPECT_LT(*loaded.state.resource_names().Find("a.io/a"),
            *loaded.state.resource_names().Find("z.io/z"));
}

TEST(LoadCluster, AnAmountThatDoesNotFitNamesFileObjectAndField) {
  ClusterState state;
  objects::ObjectSet set = MustLoad("apiVersion: v1\nkind: Node\nmetadata: {name: n0}\n");
  set.nodes[0].allocatable["example.com/x"] = Quantity::FromValue(INT64_MAX);
  const auto report = LoadCluster(set, TakesVolcano, state);
  ASSERT_FALSE(report.has_value());
  EXPECT_THAT(report.error().message,
              StartsWith("in.yaml: Node n0: status.allocatable: example.com/x: "));
}

TEST(LoadCluster, ATotalThatDoesNotFitNamesTheObjectThatBrokeIt) {
  ClusterState state;
  const std::string node = "apiVersion: v1\nkind: Node\nstatus: {allocatable: {memory: 7E}}\n";
  const auto report =
      LoadCluster(MustLoad(node + "metadata: {name: a}\n---\n" + node + "metadata: {name: b}\n"),
                  TakesVolcano,
                  state);
  ASSERT_FALSE(report.has_value());
  EXPECT_THAT(report.error().message, StartsWith("in.yaml: Node b: the total of memory"));
}

TEST(LoadCluster, OnlyPodsOfANamespaceWithAQuotaOfGpusAreToldApart) {
  const Loaded loaded = Load(
      "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: gpus, namespace: team}\n"
      "spec: {hard: {limits.nvidia.com/gpumem: 80000}}\n---\n"
      "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: cores, namespace: other}\n"
      "spec: {hard: {requests.cpu: 8}}\n---\n" +
      GpuPod("team") + GpuPod("other") + GpuPod("third"));
  std::map<std::string, std::string> namespaces;
  for (const TaskId id : loaded.state.workload().AllTasks()) {
    const Task& task = loaded.state.workload().task(id);
    namespaces[task.name] = loaded.state.classes().spec(task.class_id).gpus->quota_namespace;
  }
  EXPECT_EQ(
      namespaces,
      (std::map<std::string, std::string>{{"team/p", "team"}, {"other/p", ""}, {"third/p", ""}}));
}

TEST(LoadCluster, SaysOnceWhatIsWrongWithEveryPodOfAnOwner) {
  const auto pod = [](const std::string& name, const std::string& owner) {
    return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name +
           "\n  annotations: {hami.io/gpu-scheduler-policy: fastest}\n"
           "  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: " +
           owner +
           ", uid: u, controller: true}]\n"
           "spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}\n"
           "---\n";
  };
  const Loaded loaded = Load(pod("a", "web") + pod("b", "web") + pod("c", "web") + pod("d", "db"));
  ASSERT_THAT(loaded.report.warnings, SizeIs(2));
  EXPECT_EQ(loaded.report.warnings[0].object, "Pod default/a");
  EXPECT_THAT(loaded.report.warnings[0].message, EndsWith("has no effect (and 2 more pods)"));
  EXPECT_EQ(loaded.report.warnings[1].object, "Pod default/d");
  EXPECT_THAT(loaded.report.warnings[1].message, EndsWith("has no effect"));
}

TEST(LoadCluster, WarnsOfPodsThatHoldGpusWithoutAClaim) {
  const std::string node =
      "apiVersion: v1\nkind: Node\nmetadata:\n  name: n0\n  annotations: "
      "{hami.io/node-nvidia-register: '[]'}\nstatus: {allocatable: {pods: 10, nvidia.com/gpu: 9}}\n"
      "---\n";
  const Loaded loaded = Load(node + GpuPod("one") + GpuPod("two"));
  ASSERT_THAT(loaded.report.warnings, SizeIs(1));
  EXPECT_EQ(loaded.report.warnings[0].reason, "GpuClaimMissing");
  EXPECT_THAT(loaded.report.warnings[0].message,
              StartsWith("pod one/p (and 1 more pod) runs here"));
  EXPECT_THAT(Load(kNode + GpuPod("one")).report.warnings, IsEmpty());
}

}  // namespace
}  // namespace strata
