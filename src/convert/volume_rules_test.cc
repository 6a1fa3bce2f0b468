#include "convert/volume_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/test_support.h"

namespace strata {
namespace {

using objects::MustLoad;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr const char* kPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
    "spec:\n  containers: [{name: c, image: i}]\n"
    "  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]\n";

std::string Claim(const std::string& spec, const std::string& rest = "") {
  return "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n"
         "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}, " +
         spec + "}\n" + rest;
}
std::string StorageClass(const std::string& rest) {
  return "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\n" + rest;
}
std::string Volume(const std::string& spec, const std::string& labels = "") {
  return "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv, labels: {" + labels +
         "}}\nspec: {accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}, " + spec + "}\n";
}
constexpr const char* kOnNode0 =
    "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: "
    "[{key: kubernetes.io/hostname, operator: In, values: [n0]}]}]}}";
constexpr const char* kWaits = "volumeBindingMode: WaitForFirstConsumer\n";

VolumeRules VolumesFrom(const std::string& yaml) {
  const objects::ObjectSet objects = MustLoad(yaml);
  return VolumeRulesReader(objects).RulesOf(objects.pods.at(0));
}

TEST(VolumeRulesReader, AMissingClaimIsNamed) {
  EXPECT_EQ(VolumesFrom(kPod).refusal, "persistentvolumeclaim \"data\" not found");
}

TEST(VolumeRulesReader, RejectsAnUnboundImmediateClaim) {
  constexpr const char* kUnbound = "pod has unbound immediate PersistentVolumeClaims";
  EXPECT_EQ(VolumesFrom(kPod + Claim("storageClassName: \"\"")).refusal, kUnbound);
  EXPECT_EQ(
      VolumesFrom(kPod + Claim("storageClassName: fast") + StorageClass("provisioner: disk.csi\n"))
          .refusal,
      kUnbound);
  EXPECT_EQ(VolumesFrom(kPod + Claim("storageClassName: slow")).refusal,
            "storageclass.storage.k8s.io \"slow\" not found");
}

TEST(VolumeRulesReader, ALostClaimSaysWhatItLost) {
  EXPECT_EQ(VolumesFrom(kPod + Claim("volumeName: pv", "status: {phase: Lost}\n")).refusal,
            "persistentvolumeclaim \"data\" bound to non-existent persistentvolume \"pv\"");
  EXPECT_EQ(VolumesFrom(kPod + Claim("volumeName: pv")).refusal,
            "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
}

TEST(VolumeRulesReader, ABoundVolumeBringsItsNodesAndZones) {
  const VolumeRules rules = VolumesFrom(kPod + Claim("volumeName: pv") +
                                        Volume(kOnNode0, "topology.kubernetes.io/zone: a__b"));
  EXPECT_EQ(rules.refusal, "");
  ASSERT_THAT(rules.bound, SizeIs(1));
  EXPECT_TRUE(rules.bound[0][0].Matches("n0", {{"kubernetes.io/hostname", "n0"}}));
  ASSERT_THAT(rules.zones, SizeIs(1));
  EXPECT_TRUE(rules.zones[0][0].Matches("n", {{"topology.kubernetes.io/zone", "b"}}));
  EXPECT_TRUE(rules.zones[0][1].Matches("n", {{"failure-domain.beta.kubernetes.io/zone", "a"}}));
  EXPECT_FALSE(rules.zones[0][0].Matches("n", {{"topology.kubernetes.io/zone", "c"}}));
}

TEST(VolumeRulesReader, AClaimThatWaitsGoesWhereItsClassProvisions) {
  const std::string waiting = kPod + Claim("storageClassName: fast");
  EXPECT_EQ(VolumesFrom(waiting + StorageClass("provisioner: disk.csi\n" + std::string(kWaits))),
            VolumeRules{});
  const VolumeRules rules = VolumesFrom(
      waiting +
      StorageClass("provisioner: disk.csi\n" + std::string(kWaits) +
                   "allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a]}]}]\n"));
  ASSERT_THAT(rules.waiting, SizeIs(1));
  EXPECT_TRUE(rules.waiting[0][0].Matches("n", {{"zone", "a"}}));
  EXPECT_FALSE(rules.waiting[0][0].Matches("n", {{"zone", "b"}}));
}

TEST(VolumeRulesReader, WithoutAProvisionerOnlyExistingVolumesCount) {
  const std::string local =
      kPod + Claim("storageClassName: fast") +
      StorageClass("provisioner: kubernetes.io/no-provisioner\n" + std::string(kWaits));
  EXPECT_THAT(VolumesFrom(local).waiting, ElementsAre(IsEmpty()));
  const std::string of_class = ", storageClassName: fast";
  EXPECT_THAT(VolumesFrom(local + Volume(kOnNode0 + of_class)).waiting, ElementsAre(SizeIs(1)));
  EXPECT_THAT(VolumesFrom(local + Volume("storageClassName: fast")).waiting, IsEmpty());
  const std::string taken = of_class + ", claimRef: {namespace: default, name: other}";
  EXPECT_THAT(VolumesFrom(local + Volume(kOnNode0 + taken)).waiting, ElementsAre(IsEmpty()));
}

TEST(VolumeRulesReader, OnlyVolumesOfLimitedDriversCount) {
  const std::string bound =
      kPod + Claim("volumeName: pv") + Volume("csi: {driver: disk.csi, volumeHandle: h}");
  EXPECT_THAT(VolumesFrom(bound).attached, IsEmpty());
  const std::string node =
      "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: n0}\n"
      "spec: {drivers: [{name: disk.csi, nodeID: n0, allocatable: {count: 3}}]}\n";
  EXPECT_THAT(VolumesFrom(bound + node).attached, ElementsAre(AttachedVolume{"disk.csi", "h"}));
  const objects::ObjectSet objects = MustLoad(node);
  EXPECT_THAT(VolumeRulesReader(objects).LimitsOf("n0"), ElementsAre(Pair("disk.csi", 3)));
  EXPECT_THAT(VolumeRulesReader(objects).LimitsOf("n1"), IsEmpty());
}

TEST(VolumeRulesReader, AnEphemeralClaimCountsAsCreated) {
  const VolumeRules rules = VolumesFrom(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
      "spec:\n  containers: [{name: c, image: i}]\n"
      "  volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: "
      "{accessModes: [ReadWriteOncePod], resources: {requests: {storage: 1Gi}}}}}}]\n");
  EXPECT_EQ(rules.refusal, "");
  EXPECT_THAT(rules.exclusive, ElementsAre("default/p-v"));
}

}  // namespace
}  // namespace strata
