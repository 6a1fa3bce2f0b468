#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apiserver/test_rows.h"
#include "apiserver/views/views.h"
#include "json/access.h"
#include "schema/catalog.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using ::testing::StartsWith;

class OpenApiTest : public ::testing::Test {
 protected:
  OpenApiTest() {
    Resource row = TestRow("batch.volcano.sh", "Job", "jobs");
    row.version = "v1alpha1";
    row.has_status = true;
    auto made = schema::FromCustomResource(
        J("{'type': 'object', 'properties': {'spec': {'type': 'object', 'description': 'What.',"
          " 'properties': {'queue': {'type': 'string'}}}}}"));
    EXPECT_TRUE(made.has_value());
    row.schema = *made;
    table.Put(std::move(row));
  }
  ResourceTable table;
};

// Every {"$ref": ...} in a document.
void CollectReferences(const json& at, std::set<std::string>& out) {
  if (at.is_object() && at.contains("$ref") && at["$ref"].is_string()) out.insert(at["$ref"]);
  if (!at.is_structured()) return;
  for (const json& part : at) CollectReferences(part, out);
}

json ParameterNames(const json& operation) {
  json names = json::array();
  for (const json& parameter : operation["parameters"]) names.push_back(parameter["name"]);
  return names;
}

TEST_F(OpenApiTest, V2HasWhatKubectlLooksFor) {
  const json document = OpenApiV2(table);
  EXPECT_EQ(document["swagger"], "2.0");
  const json& patch = document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"];
  EXPECT_EQ(patch["x-kubernetes-group-version-kind"],
            J("{'group': '', 'version': 'v1', 'kind': 'Pod'}"));
  EXPECT_EQ(patch["x-kubernetes-action"], "patch");
  EXPECT_EQ(ParameterNames(patch),
            J("['body', 'dryRun', 'fieldManager', 'fieldValidation', 'force', 'pretty']"));
  const json& pod = document["definitions"]["io.k8s.api.core.v1.Pod"];
  EXPECT_EQ(pod["x-kubernetes-group-version-kind"],
            J("[{'group': '', 'version': 'v1', 'kind': 'Pod'}]"));
  EXPECT_TRUE(pod["properties"].contains("spec"));
  const json& job = document["definitions"]["sh.volcano.batch.v1alpha1.Job"];
  EXPECT_EQ(job["properties"]["spec"]["properties"]["queue"]["type"], "string");
  EXPECT_EQ(job["x-kubernetes-group-version-kind"],
            J("[{'group': 'batch.volcano.sh', 'version': 'v1alpha1', 'kind': 'Job'}]"));
}

TEST_F(OpenApiTest, EveryReferenceLeadsSomewhere) {
  const json v2 = OpenApiV2(table);
  std::set<std::string> references;
  CollectReferences(v2, references);
  for (const std::string& reference : references) {
    EXPECT_TRUE(v2.contains(json::json_pointer(reference.substr(1)))) << reference;
  }
  const json index = OpenApiV3Index(table);
  for (const auto& [path, entry] : index["paths"].items()) {
    const json v3 = OpenApiV3(table, path);
    references.clear();
    CollectReferences(v3, references);
    EXPECT_FALSE(references.empty());
    for (const std::string& reference : references) {
      EXPECT_TRUE(v3.contains(json::json_pointer(reference.substr(1)))) << path << reference;
    }
  }
}

TEST_F(OpenApiTest, OperationIdsAreUnique) {
  std::set<std::string> ids;
  std::size_t count = 0;
  const json document = OpenApiV2(table);
  for (const json& path : document["paths"]) {
    for (const json& operation : path) {
      if (!operation.is_object()) continue;
      ++count;
      ids.insert(operation["operationId"].get<std::string>());
    }
  }
  EXPECT_GT(count, 50U);
  EXPECT_EQ(ids.size(), count);
}

TEST_F(OpenApiTest, V3IsSplitByGroupVersion) {
  const json index = OpenApiV3Index(table);
  EXPECT_THAT(
      index["paths"]["apis/batch.volcano.sh/v1alpha1"]["serverRelativeURL"].get<std::string>(),
      StartsWith("/openapi/v3/apis/batch.volcano.sh/v1alpha1?hash="));
  EXPECT_TRUE(index["paths"].contains("api/v1"));
  const json document = OpenApiV3(table, "apis/batch.volcano.sh/v1alpha1");
  EXPECT_EQ(document["openapi"], "3.0.0");
  EXPECT_EQ(document["paths"].size(), 4U);
  const json& post =
      document["paths"]["/apis/batch.volcano.sh/v1alpha1/namespaces/{namespace}/jobs"]["post"];
  EXPECT_EQ(ParameterNames(post), J("['dryRun', 'fieldManager', 'fieldValidation', 'pretty']"));
  EXPECT_EQ(post["requestBody"]["content"]["*/*"]["schema"]["$ref"],
            "#/components/schemas/sh.volcano.batch.v1alpha1.Job");
  EXPECT_EQ(OpenApiV3(table, "apis/nope/v1"), nullptr);
  EXPECT_EQ(OpenApiV3(table, ""), nullptr);
}

TEST_F(OpenApiTest, NoPropertyOfV3IsEmptyBecauseExplainWouldStop) {
  const json document = OpenApiV3(table, "apis/apiextensions.k8s.io/v1");
  const json& schemas = document["components"]["schemas"];
  EXPECT_EQ(
      schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry"]["properties"]["fieldsV1"],
      J("{'description': 'Any value.'}"));
  for (const auto& [name, type] : schemas.items()) {
    for (const auto& [property, schema] : ObjectAt(type, {"properties"}).items()) {
      EXPECT_FALSE(schema.empty()) << name << "." << property;
      const json* items = FindAt(schema, {"items"});
      EXPECT_TRUE(items == nullptr || !items->empty()) << name << "." << property;
    }
  }
}

TEST_F(OpenApiTest, TheHashFollowsTheContentAlone) {
  const json before = OpenApiV3Index(table);
  EXPECT_EQ(OpenApiV3Index(table), before);
  Resource row = *table.Find("batch.volcano.sh", "v1alpha1", "jobs");
  row.has_status = false;
  table.Put(row);
  const json after = OpenApiV3Index(table);
  EXPECT_EQ(after["paths"]["api/v1"], before["paths"]["api/v1"]);
  EXPECT_NE(after["paths"]["apis/batch.volcano.sh/v1alpha1"],
            before["paths"]["apis/batch.volcano.sh/v1alpha1"]);
}

}  // namespace
}  // namespace strata::apiserver
