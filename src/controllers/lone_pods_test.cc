#include "controllers/lone_pods.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace strata::controllers {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kOwnerKey = "default/=u-r";

// Pods of the ReplicaSet r, and its PodGroup, as the informers show them.
class LonePodsTest : public ::testing::Test {
 protected:
  static Cache::Watched All(const kube::Resource& resource, Cache::Keep keep) {
    Cache::Watched watched;
    watched.spec.resource = resource;
    watched.keep = keep;
    return watched;
  }
  static json Owned(const std::string& name, const std::string& kind = "ReplicaSet") {
    const json owner = {{"apiVersion", "apps/v1"},
                        {"kind", kind},
                        {"name", "r"},
                        {"uid", "u-r"},
                        {"controller", true}};
    return {{"metadata",
             {{"name", name},
              {"namespace", "default"},
              {"uid", "u-" + name},
              {"ownerReferences", {owner}}}}};
  }
  void Show(int source, json object, kube::Delta::Type type = kube::Delta::Type::kAdded) {
    object["apiVersion"] = source == 0 ? "v1" : "scheduling.volcano.sh/v1beta1";
    object["kind"] = source == 0 ? "Pod" : "PodGroup";
    kube::Delta delta;
    delta.type = type;
    delta.source = source;
    delta.key = {"default", object["metadata"]["name"]};
    delta.text = object.dump();
    (void)cache.Take(delta);
  }
  void ShowPod(const std::string& name, const std::string& group = "") {
    json pod = Owned(name);
    pod["spec"] = {{"schedulerName", "volcano"}, {"containers", {{{"name", "c"}}}}};
    if (!group.empty()) pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = group;
    Show(0, std::move(pod));
  }
  std::vector<std::string> Deeds(const std::string& key) {
    std::vector<std::string> deeds;
    for (const std::vector<Write>& step : pods.Decide(key).steps) {
      for (const Write& write : step) {
        const char* verb = write.verb == Write::Verb::kCreate   ? "create "
                           : write.verb == Write::Verb::kDelete ? "delete "
                                                                : "patch ";
        deeds.push_back(verb + write.name);
      }
    }
    return deeds;
  }

  Cache cache{{All(kube::kPods, Cache::Keep::kPod), All(kube::kPodGroups, Cache::Keep::kWhole)}};
  LonePods pods{cache, [](const std::string& scheduler) { return scheduler == "volcano"; }};
};

TEST_F(LonePodsTest, MakesOneGroupForAllPodsOfAnOwner) {
  ShowPod("a");
  ShowPod("b");
  EXPECT_THAT(Deeds(kOwnerKey), ElementsAre("create podgroup-u-r", "patch a", "patch b"));
}

TEST_F(LonePodsTest, DeletesTheGroupOfAnOwnerAfterItsLastPod) {
  Show(1, Owned("podgroup-u-r"));
  ShowPod("a", "podgroup-u-r");
  EXPECT_THAT(Deeds(kOwnerKey), IsEmpty());
  Show(0, Owned("a"), kube::Delta::Type::kDeleted);
  EXPECT_THAT(Deeds(kOwnerKey), ElementsAre("delete podgroup-u-r"));
}

TEST_F(LonePodsTest, LeavesGroupsThatAreNotThoseOfAnOwner) {
  EXPECT_EQ(LonePods::KeyOfGroup(Owned("podgroup-u-r")), kOwnerKey);
  EXPECT_EQ(LonePods::KeyOfGroup(Owned("training")), std::nullopt);
  EXPECT_EQ(LonePods::KeyOfGroup(Owned("podgroup-u-r", "Pod")), std::nullopt);
  Show(1, Owned("podgroup-u-r", "Pod"));
  EXPECT_THAT(Deeds(kOwnerKey), IsEmpty());
}

TEST_F(LonePodsTest, PodsOfOneOwnerHaveOneKey) {
  PodSeen pod;
  pod.key = {"default", "a"};
  EXPECT_EQ(LonePods::KeyOf(pod), "default/a");
  pod.owner_uid = "u-r";
  EXPECT_EQ(LonePods::KeyOf(pod), kOwnerKey);
}

}  // namespace
}  // namespace strata::controllers
