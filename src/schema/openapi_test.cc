#include "schema/openapi.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schema/catalog.h"

namespace strata::schema {
namespace {

using nlohmann::json;

constexpr const char* kPod = "io.k8s.api.core.v1.Pod";

TEST(ToOpenApi, ANamedTypeIsAReferenceAndItsTypesAreInTheDocument) {
  OpenApiTypes types;
  const json pod = ToOpenApi(*BuiltIn("", "v1", "Pod"), OpenApiVersion::kV3, types);
  EXPECT_EQ(pod, json({{"$ref", "#/components/schemas/io.k8s.api.core.v1.Pod"}}));
  ASSERT_TRUE(types.contains(kPod));
  EXPECT_EQ(types[kPod]["properties"]["spec"]["allOf"][0]["$ref"],
            "#/components/schemas/io.k8s.api.core.v1.PodSpec");
  const json& spec = types["io.k8s.api.core.v1.PodSpec"];
  EXPECT_EQ(spec["required"], json::parse(R"(["containers"])"));
  const json& containers = spec["properties"]["containers"];
  EXPECT_EQ(containers["type"], "array");
  EXPECT_EQ(containers["x-kubernetes-list-type"], "map");
  EXPECT_EQ(containers["x-kubernetes-list-map-keys"], json::parse(R"(["name"])"));
  EXPECT_EQ(containers["x-kubernetes-patch-strategy"], "merge");
  EXPECT_EQ(containers["x-kubernetes-patch-merge-key"], "name");
  EXPECT_EQ(containers["items"]["$ref"], "#/components/schemas/io.k8s.api.core.v1.Container");
  EXPECT_EQ(spec["properties"]["restartPolicy"]["default"], "Always");
  EXPECT_FALSE(spec["properties"]["containers"]["description"].empty());
}

TEST(ToOpenApi, EveryReferenceLeadsSomewhere) {
  for (const OpenApiVersion version : {OpenApiVersion::kV2, OpenApiVersion::kV3}) {
    OpenApiTypes types;
    for (const char* kind : {"Pod", "Node", "PersistentVolume", "Event", "Service"}) {
      (void)ToOpenApi(*BuiltIn("", "v1", kind), version, types);
    }
    (void)ToOpenApi(
        *BuiltIn("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), version, types);
    const std::string prefix =
        version == OpenApiVersion::kV2 ? "#/definitions/" : "#/components/schemas/";
    int references = 0;
    for (const auto& [name, type] : types) {
      EXPECT_TRUE(type.is_object()) << name;
      const json flat = type.flatten();
      for (const auto& [path, value] : flat.items()) {
        if (!path.ends_with("/$ref")) continue;
        ++references;
        const auto target = value.get<std::string>();
        ASSERT_TRUE(target.starts_with(prefix)) << target;
        EXPECT_TRUE(types.contains(target.substr(prefix.size()))) << target;
      }
    }
    EXPECT_GT(references, 300);
  }
}

TEST(ToOpenApi, ScalarsWithANameAreWrittenAsEachVersionCan) {
  const char* quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
  const char* either = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
  OpenApiTypes v2;
  (void)ToOpenApi(*BuiltIn("", "v1", "Pod"), OpenApiVersion::kV2, v2);
  EXPECT_EQ(v2[quantity]["type"], "string");
  EXPECT_EQ(v2[either]["type"], "string");
  EXPECT_EQ(v2[either]["format"], "int-or-string");
  EXPECT_EQ(v2["io.k8s.apimachinery.pkg.apis.meta.v1.Time"]["format"], "date-time");
  EXPECT_EQ(v2[kPod]["properties"]["spec"]["$ref"], "#/definitions/io.k8s.api.core.v1.PodSpec");
  OpenApiTypes v3;
  (void)ToOpenApi(*BuiltIn("", "v1", "Pod"), OpenApiVersion::kV3, v3);
  EXPECT_FALSE(v3[quantity].contains("type"));
  EXPECT_EQ(v3[quantity]["oneOf"].size(), 2U);
}

TEST(ToOpenApi, ACustomKindIsItsOwnDefinition) {
  const json schema = json::parse(R"({"type":"object","description":"A thing.","properties":{
      "spec":{"type":"object","required":["n"],"properties":{
        "n":{"type":"integer","format":"int32","minimum":1,"default":2},
        "q":{"x-kubernetes-int-or-string":true,"pattern":"^[0-9]+$"},
        "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true,
                "properties":{"a":{"type":"string"}}},
        "maybe":{"type":"string","nullable":true},
        "one":{"type":"string","enum":["a","b"]}}}}})");
  const SchemaRef kind = *FromCustomResource(schema);
  OpenApiTypes types;
  const json v3 = ToOpenApi(*kind, OpenApiVersion::kV3, types);
  EXPECT_EQ(v3["description"], "A thing.");
  const json& spec = v3["properties"]["spec"];
  EXPECT_EQ(spec["properties"]["n"],
            json::parse(R"({"type":"integer","format":"int32","minimum":1,"default":2})"));
  EXPECT_EQ(spec["properties"]["q"]["x-kubernetes-int-or-string"], true);
  EXPECT_EQ(spec["properties"]["one"]["enum"], json::parse(R"(["a","b"])"));
  EXPECT_EQ(spec["properties"]["maybe"]["nullable"], true);
  EXPECT_TRUE(spec["properties"]["free"].contains("properties"));
  EXPECT_TRUE(types.contains("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));

  OpenApiTypes old;
  const json v2 = ToOpenApi(*kind, OpenApiVersion::kV2, old);
  EXPECT_FALSE(v2["properties"]["spec"]["properties"]["free"].contains("properties"));
  EXPECT_FALSE(v2["properties"]["spec"]["properties"]["maybe"].contains("type"));
}

TEST(ToOpenApi, BoundsThatAreNoInt64StayNumbers) {
  Schema schema;
  schema.type = Type::kNumber;
  schema.minimum = -1e300;
  schema.maximum = 9223372036854775808.0;
  schema.multiple_of = 2;
  OpenApiTypes types;
  const json written = ToOpenApi(schema, OpenApiVersion::kV3, types);
  EXPECT_EQ(written["minimum"], -1e300);
  EXPECT_TRUE(written["maximum"].is_number_float());
  EXPECT_EQ(written["multipleOf"].dump(), "2");
}

}  // namespace
}  // namespace strata::schema
