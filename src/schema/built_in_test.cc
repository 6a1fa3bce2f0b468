#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "schema/catalog.h"
#include "schema/check.h"
#include "schema/embedded.h"
#include "schema/type_reader.h"

namespace strata::schema {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

SchemaRef Core(std::string_view kind) {
  return BuiltIn("", "v1", kind);
}

json WithDefaults(std::string_view kind, json object) {
  ApplyDefaults(*Core(kind), object);
  return object;
}

TEST(BuiltIn, HasEveryKindWeServe) {
  const std::vector<std::tuple<const char*, const char*, const char*>> kinds = {
      {"", "v1", "Namespace"},
      {"", "v1", "Node"},
      {"", "v1", "Pod"},
      {"", "v1", "Event"},
      {"", "v1", "ConfigMap"},
      {"", "v1", "Secret"},
      {"", "v1", "Service"},
      {"", "v1", "ServiceAccount"},
      {"", "v1", "PersistentVolume"},
      {"", "v1", "PersistentVolumeClaim"},
      {"", "v1", "ResourceQuota"},
      {"", "v1", "Binding"},
      {"scheduling.k8s.io", "v1", "PriorityClass"},
      {"coordination.k8s.io", "v1", "Lease"},
      {"policy", "v1", "PodDisruptionBudget"},
      {"policy", "v1", "Eviction"},
      {"storage.k8s.io", "v1", "StorageClass"},
      {"storage.k8s.io", "v1", "CSINode"},
      {"authorization.k8s.io", "v1", "SelfSubjectAccessReview"},
      {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"}};
  for (const auto& [group, version, kind] : kinds) {
    const SchemaRef schema = BuiltIn(group, version, kind);
    ASSERT_NE(schema, nullptr) << kind;
    EXPECT_EQ(schema->go_name, kind);
    EXPECT_FALSE(schema->description.empty()) << kind;
    for (const char* field : {"apiVersion", "kind", "metadata"}) {
      EXPECT_NE(schema->Find(field), nullptr) << kind << " " << field;
    }
    EXPECT_EQ(schema->Find("metadata")->schema->go_name, "ObjectMeta");
  }
  EXPECT_NE(BuiltIn("meta.k8s.io", "v1", "DeleteOptions"), nullptr);
  EXPECT_EQ(BuiltIn("", "v1", "Deployment"), nullptr);
  EXPECT_EQ(BuiltIn("", "v2", "Pod"), nullptr);
  EXPECT_EQ(BuiltIn("core", "v1", "Pod"), nullptr);
}

TEST(BuiltIn, EveryTypeInTheFilesCanBeMade) {
  TypeReader reader(EmbeddedTypes(), EmbeddedDescriptions());
  const std::vector<std::string> names = reader.TypeNames();
  EXPECT_GT(names.size(), 250U);
  for (const std::string& name : names) {
    const SchemaRef schema = reader.Type(name);
    ASSERT_NE(schema, nullptr) << name;
    EXPECT_EQ(schema->type_name, name);
  }
  EXPECT_EQ(reader.Type("io.k8s.api.core.v1.Nothing"), nullptr);
  EXPECT_EQ(reader.Type("io.k8s.api.core.v1"), nullptr);
}

TEST(BuiltIn, EveryDescriptionBelongsToAType) {
  for (std::string_view rest = EmbeddedDescriptions(); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.starts_with('#')) continue;
    std::string_view key = line.substr(0, line.find(' '));
    const std::size_t dot = key.find('.');
    const std::string_view package = key.substr(0, dot);
    key.remove_prefix(dot + 1);
    const std::string_view type = key.substr(0, key.find('.'));
    if (package == "meta" && std::islower(static_cast<unsigned char>(type[0])) != 0) continue;
    std::string full = package == "meta"            ? "io.k8s.apimachinery.pkg.apis.meta.v1."
                       : package == "apiextensions" ? "io.k8s.apiextensions-apiserver.pkg.apis."
                                                      "apiextensions.v1."
                                                    : "io.k8s.api." + std::string(package) + ".v1.";
    const SchemaRef schema = BuiltInType(full.append(type));
    ASSERT_NE(schema, nullptr) << line;
    if (type.size() == key.size()) continue;
    EXPECT_NE(schema->Find(key.substr(type.size() + 1)), nullptr) << line;
  }
}

TEST(BuiltIn, KnowsHowListsOfAPodAreMerged) {
  const SchemaRef spec = Core("Pod")->Find("spec")->schema;
  const Schema& containers = *spec->Find("containers")->schema;
  EXPECT_TRUE(spec->Find("containers")->required);
  EXPECT_EQ(containers.list_type, ListType::kMap);
  EXPECT_THAT(containers.list_map_keys, ElementsAre("name"));
  EXPECT_EQ(containers.patch_strategy, PatchStrategy::kMerge);
  EXPECT_EQ(containers.patch_merge_key, "name");
  const Schema& ports = *containers.items->Find("ports")->schema;
  EXPECT_THAT(ports.list_map_keys, ElementsAre("containerPort", "protocol"));
  EXPECT_EQ(ports.patch_merge_key, "containerPort");
  EXPECT_EQ(spec->Find("volumes")->schema->patch_strategy, PatchStrategy::kMergeRetainKeys);
  EXPECT_EQ(spec->Find("tolerations")->schema->list_type, ListType::kAtomic);
  EXPECT_EQ(spec->Find("tolerations")->schema->patch_strategy, PatchStrategy::kReplace);
  EXPECT_TRUE(spec->Find("nodeSelector")->schema->atomic);
  const Schema& meta = *Core("Pod")->Find("metadata")->schema;
  EXPECT_EQ(meta.Find("finalizers")->schema->list_type, ListType::kSet);
  EXPECT_EQ(meta.Find("ownerReferences")->schema->patch_merge_key, "uid");
  EXPECT_TRUE(meta.Find("ownerReferences")->schema->items->atomic);
}

TEST(BuiltIn, SchemaOfACustomResourceDefinitionIsFinite) {
  const SchemaRef version = BuiltInType(
      "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceValidation");
  const Schema& properties = *version->Find("openAPIV3Schema")->schema->Find("properties")->schema;
  EXPECT_EQ(properties.type, Type::kMap);
  EXPECT_EQ(properties.items->type, Type::kAny);
}

TEST(ApplyDefaults, FillsInWhatAServerWould) {
  const json pod = WithDefaults(
      "Pod",
      json::parse(R"({"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],
                     "livenessProbe":{"httpGet":{"port":80},"timeoutSeconds":0}}],
                     "restartPolicy":"","volumes":[{"name":"v","secret":{"secretName":"s"}}]}})"));
  EXPECT_EQ(pod, json::parse(R"({"spec":{
      "containers":[{"name":"c","image":"i","resources":{},
        "ports":[{"containerPort":80,"protocol":"TCP"}],
        "livenessProbe":{"httpGet":{"path":"/","port":80,"scheme":"HTTP"},"timeoutSeconds":1,
                         "periodSeconds":10,"successThreshold":1,"failureThreshold":3},
        "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],
      "dnsPolicy":"ClusterFirst","enableServiceLinks":true,"restartPolicy":"Always",
      "schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30,
      "volumes":[{"name":"v","secret":{"secretName":"s","defaultMode":420}}]}})"));
}

TEST(ApplyDefaults, KeepsAZeroThatMeansSomething) {
  const json pod =
      WithDefaults("Pod", {{"spec", {{"terminationGracePeriodSeconds", 0}, {"priority", 0}}}});
  EXPECT_EQ(pod["spec"]["terminationGracePeriodSeconds"], 0);
  EXPECT_EQ(pod["spec"]["priority"], 0);
}

TEST(ApplyDefaults, WorksOnlyInsideObjectsThatAreThere) {
  EXPECT_EQ(WithDefaults("Pod", json::object()), json::object());
  EXPECT_EQ(WithDefaults("Pod", json::parse(R"({"spec":[1]})")), json::parse(R"({"spec":[1]})"));
  EXPECT_EQ(WithDefaults("Pod", json("text")), json("text"));
}

TEST(ApplyDefaults, NullBecomesTheDefaultOrIsRemoved) {
  const json pod = WithDefaults(
      "Pod", json::parse(R"({"metadata":{"labels":null,"odd":null},"spec":{"dnsPolicy":null}})"));
  EXPECT_EQ(pod["metadata"], json::parse(R"({"odd":null})"));
  EXPECT_EQ(pod["spec"]["dnsPolicy"], "ClusterFirst");
}

TEST(UnknownFields, AreNamedDepthFirst) {
  const json pod = json::parse(R"({"gadget":1,"metadata":{"labels":{"any":"x"}},
      "spec":{"containers":[{"name":"c","widget":1}],"gizmo":2,
              "affinity":{"nodeAffinity":{"x":{}}}}})");
  EXPECT_THAT(
      UnknownFields(*Core("Pod"), pod).first,
      ElementsAre(
          "gadget", "spec.affinity.nodeAffinity.x", "spec.containers[0].widget", "spec.gizmo"));
}

TEST(UnknownFields, AreNotLookedForWhereAnythingMayBe) {
  const json object = json::parse(R"({"metadata":{"managedFields":[{"fieldsV1":{"f:x":{}}}]}})");
  EXPECT_THAT(UnknownFields(*Core("Pod"), object).first, IsEmpty());
}

}  // namespace
}  // namespace strata::schema
