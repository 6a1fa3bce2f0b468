#include "sched/plugins/volume_filters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.h"
#include "tests/support/cycle.h"

namespace strata {
namespace {

using testing::ClusterBuilder;
using testing::ConfigWith;
using testing::Decisions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RunCycle;
using ::testing::SizeIs;
using testing::TaskArgs;

VolumeRules::AnyOf InZone(const std::string& zone) {
  return {{.labels = {{"topology.kubernetes.io/zone", SelectorOp::kIn, {zone}}}, .fields = {}}};
}

//   a: zone a      b: zone b
void AddZoneNodes(ClusterBuilder& cluster) {
  for (const char* name : {"a", "b"}) {
    cluster.Node(name, {.labels = {{"topology.kubernetes.io/zone", name}}});
  }
}

TaskArgs With(VolumeRules volumes) {
  TaskArgs args;
  args.volumes = std::move(volumes);
  return args;
}

TEST(VolumeFilters, ABoundVolumeDecidesTheNode) {
  ClusterBuilder cluster;
  AddZoneNodes(cluster);
  VolumeRules volumes;
  volumes.bound = {InZone("b")};
  cluster.Job("j", {.tasks = 2, .task = With(volumes)});
  EXPECT_THAT(RunCycle(cluster.state).NodesOf("j"), ElementsAre("b"));
  volumes.bound = {InZone("b"), InZone("a")};
  cluster.Job("k", {.tasks = 1, .task = With(volumes)});
  EXPECT_THAT(RunCycle(cluster.state).Message("k"),
              HasSubstr("2 node(s) didn't match PersistentVolume's node affinity"));
}

TEST(VolumeFilters, AZoneBindsOnlyNodesThatHaveOne) {
  ClusterBuilder cluster;
  AddZoneNodes(cluster);
  VolumeRules volumes;
  volumes.zones = {InZone("c")};
  cluster.Job("j", {.tasks = 1, .task = With(volumes)});
  EXPECT_THAT(RunCycle(cluster.state).Message("j"),
              HasSubstr("2 node(s) had no available volume zone"));
  EXPECT_THAT(
      RunCycle(cluster.state, ConfigWith("predicates", "predicate.VolumeZoneEnable", false)).binds,
      SizeIs(1));
  cluster.Node("nowhere");
  cluster.Job("k", {.tasks = 1, .task = With(volumes)});
  EXPECT_THAT(RunCycle(cluster.state).NodesOf("k"), ElementsAre("nowhere"));
}

TEST(VolumeFilters, AClaimThatWaitsNeedsAPlaceForItsVolume) {
  ClusterBuilder cluster;
  AddZoneNodes(cluster);
  VolumeRules volumes;
  volumes.waiting = {{}};
  cluster.Job("j", {.tasks = 1, .task = With(volumes)});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_EQ(decisions.Reason("j"), "NoMatchingNode");
  EXPECT_THAT(decisions.Message("j"),
              HasSubstr("2 node(s) didn't find available persistent volumes to bind"));
}

TEST(VolumeFilters, AProblemOfThePodItselfIsReportedOnce) {
  ClusterBuilder cluster;
  AddZoneNodes(cluster);
  VolumeRules volumes;
  volumes.refusal = "persistentvolumeclaim \"data\" not found";
  cluster.Job("j", {.tasks = 1, .task = With(volumes)});
  EXPECT_EQ(RunCycle(cluster.state).Message("j"),
            "1/1 tasks in gang unschedulable: 0 of 1 pod fits on the 2 nodes of the cluster: "
            "persistentvolumeclaim \"data\" not found");
  EXPECT_THAT(
      RunCycle(cluster.state, ConfigWith("predicates", "predicate.VolumeBindingEnable", false))
          .binds,
      SizeIs(1));
}

TEST(VolumeFilters, ANodeAttachesNoMoreThanItsDriverTakes) {
  ClusterBuilder cluster;
  cluster.Node("n", {.volume_limits = {{"disk.csi", 2}}});
  cluster.Job("j", {.tasks = 0, .min_available = 3});
  for (const char* handle : {"v0", "v1", "v2"}) {
    VolumeRules volumes;
    volumes.attached = {{"disk.csi", handle}, {"free.csi", handle}};
    cluster.Task("j", With(volumes));
  }
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, IsEmpty());
  EXPECT_THAT(decisions.Message("j"), HasSubstr("2 of 3 pods fit"));
  EXPECT_THAT(decisions.Message("j"), HasSubstr("1 node(s) exceed max volume count"));
  EXPECT_THAT(
      RunCycle(cluster.state, ConfigWith("predicates", "predicate.NodeVolumeLimitsEnable", false))
          .binds,
      SizeIs(3));
}

TEST(VolumeFilters, PodsThatShareAVolumeShareItsPlace) {
  ClusterBuilder cluster;
  cluster.Node("n", {.volume_limits = {{"disk.csi", 1}}});
  VolumeRules volumes;
  volumes.attached = {{"disk.csi", "shared"}};
  cluster.Job("j", {.tasks = 3, .task = With(volumes)});
  EXPECT_THAT(RunCycle(cluster.state).binds, SizeIs(3));
}

TEST(VolumeFilters, AClaimForOnePodIsUsedByOne) {
  ClusterBuilder cluster;
  AddZoneNodes(cluster);
  VolumeRules volumes;
  volumes.exclusive = {"default/state"};
  cluster.Job("j", {.tasks = 2, .task = With(volumes), .min_available = 1});
  const Decisions decisions = RunCycle(cluster.state);
  EXPECT_THAT(decisions.binds, SizeIs(1));
  EXPECT_THAT(decisions.Message("j"),
              HasSubstr("node has pod using PersistentVolumeClaim with the same name and "
                        "ReadWriteOncePod access mode"));
}

}  // namespace
}  // namespace strata
