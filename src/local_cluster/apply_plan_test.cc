#include "local_cluster/apply_plan.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Manifest ManifestOf(const std::string& kind, const std::string& name, const std::string& ns = "") {
  return {
      .origin = "f.yaml", .api_version = "v1", .kind = kind, .ns = ns, .name = name, .body = "{}"};
}

// "Queue a, Queue b" per wave.
std::vector<std::string> Picture(const std::vector<ApplyWave>& waves) {
  std::vector<std::string> lines;
  for (const ApplyWave& wave : waves) {
    std::string line;
    for (const Manifest* manifest : wave.manifests) {
      line += (line.empty() ? "" : ", ") + manifest->kind + " " + manifest->name;
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(ManifestsOf, TakesListsApart) {
  const auto manifests = ManifestsOf("f.yaml", nlohmann::json::parse(R"({
    "kind": "List", "items": [
      {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}},
      {"kind": "NodeList", "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}]},
      "no object"]})"));
  ASSERT_EQ(manifests.size(), 2U);
  EXPECT_EQ(NameOf(manifests[0]), "f.yaml: Pod ns/p");
  EXPECT_EQ(manifests[0].api_version, "v1");
  EXPECT_EQ(nlohmann::json::parse(manifests[0].body)["metadata"]["name"], "p");
  EXPECT_EQ(NameOf(manifests[1]), "f.yaml: Node n");
}

TEST(ApplyOrder, PutsWhatOthersNeedFirst) {
  const std::vector<Manifest> manifests = {ManifestOf("Pod", "p"),
                                           ManifestOf("Job", "j"),
                                           ManifestOf("PodGroup", "g"),
                                           ManifestOf("Node", "n"),
                                           ManifestOf("Queue", "parent"),
                                           ManifestOf("Queue", "child"),
                                           ManifestOf("Namespace", "ns"),
                                           ManifestOf("PriorityClass", "high"),
                                           ManifestOf("CustomResourceDefinition", "d")};
  const std::vector<ApplyWave> waves = ApplyOrder(manifests);
  EXPECT_THAT(Picture(waves),
              ElementsAre("CustomResourceDefinition d",
                          "Namespace ns, PriorityClass high",
                          "Queue parent, Queue child",
                          "Node n",
                          "PodGroup g",
                          "Job j",
                          "Pod p"));
  EXPECT_TRUE(waves[0].defines_kinds);
  EXPECT_FALSE(waves[0].one_by_one);
  EXPECT_TRUE(waves[2].one_by_one);
  EXPECT_FALSE(waves[2].defines_kinds);
}

TEST(ApplyOrder, OfNothingIsEmpty) {
  EXPECT_THAT(ApplyOrder({}), IsEmpty());
}

TEST(NamespacesOf, AreThoseThatObjectsName) {
  EXPECT_THAT(NamespacesOf({ManifestOf("Pod", "a", "ml"),
                            ManifestOf("Pod", "b", "ml"),
                            ManifestOf("Pod", "c", "dev"),
                            ManifestOf("Node", "n")}),
              ElementsAre("dev", "ml"));
}

TEST(ReadServedKinds, ReadsADiscoveryDocument) {
  const auto kinds = ReadServedKinds("batch.volcano.sh/v1alpha1", R"({"resources": [
    {"name": "jobs", "kind": "Job", "namespaced": true},
    {"name": "jobs/status", "kind": "Job", "namespaced": false},
    {"name": "flows", "kind": "Flow", "namespaced": false}]})");
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds.at("Job"), (ServedKind{"batch.volcano.sh", "v1alpha1", "jobs", true}));
  EXPECT_EQ(kinds.at("Flow"), (ServedKind{"batch.volcano.sh", "v1alpha1", "flows", false}));
  EXPECT_EQ(
      ReadServedKinds("v1", R"({"resources": [{"name": "pods", "kind": "Pod"}]})").at("Pod").group,
      "");
}

TEST(ReadServedKinds, OfABrokenDocumentIsEmpty) {
  for (const char* text : {"", "[]", "{}", "no json", R"({"resources": 1})"}) {
    EXPECT_THAT(ReadServedKinds("v1", text), IsEmpty()) << text;
  }
}

constexpr FieldValidation kStrict = FieldValidation::kStrict;

TEST(ApplyCall, AppliesByServerSideApplyAndTakesOverConflicts) {
  const kube::Call call =
      ApplyCall({"", "v1", "pods", true}, ManifestOf("Pod", "p", "ml"), kStrict);
  EXPECT_EQ(call.method, "PATCH");
  EXPECT_EQ(call.path, "/api/v1/namespaces/ml/pods/p");
  EXPECT_EQ(call.content_type, "application/apply-patch+yaml");
  EXPECT_THAT(call.query, HasSubstr("fieldManager=strata-up"));
  EXPECT_THAT(call.query, HasSubstr("force=true"));
  EXPECT_THAT(call.query, HasSubstr("fieldValidation=Strict"));
}

TEST(ApplyCall, AsksForWarningsOnlyWhenToldToAndForPodsOnNodes) {
  const ServedKind pods{"", "v1", "pods", true};
  Manifest pod = ManifestOf("Pod", "p", "ml");
  EXPECT_THAT(ApplyCall(pods, pod, FieldValidation::kWarn).query,
              HasSubstr("fieldValidation=Warn"));
  pod.accepted = true;
  EXPECT_THAT(ApplyCall(pods, pod, kStrict).query, HasSubstr("fieldValidation=Warn"));
}

TEST(ApplyCall, UsesNamespaceDefaultOnlyForNamespacedKinds) {
  EXPECT_EQ(ApplyCall({"", "v1", "pods", true}, ManifestOf("Pod", "p"), kStrict).path,
            "/api/v1/namespaces/default/pods/p");
  EXPECT_EQ(ApplyCall({"", "v1", "nodes", false}, ManifestOf("Node", "n", "ml"), kStrict).path,
            "/api/v1/nodes/n");
}

TEST(ApplyCall, CreatesAnObjectWithGenerateName) {
  const kube::Call call = ApplyCall({"", "v1", "pods", true}, ManifestOf("Pod", ""), kStrict);
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.path, "/api/v1/namespaces/default/pods");
}

}  // namespace
}  // namespace strata
