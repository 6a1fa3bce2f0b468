#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "wire/proto/openapi_v2.pb.h"
#include "wire/protobuf_body.h"

namespace strata::wire {
namespace {

using nlohmann::json;

openapi::Document Converted(const json& document) {
  openapi::Document read;
  const Result<std::string> bytes = OpenApiV2ToProtobuf(document);
  EXPECT_TRUE(bytes) << bytes.error().message;
  EXPECT_TRUE(bytes && read.ParseFromString(*bytes));
  return read;
}

TEST(OpenApiV2, DefinitionsHaveWhatExplainAndValidationRead) {
  const openapi::Document document = Converted(json::parse(R"({"swagger":"2.0",
      "info":{"title":"Strata","version":"v1"},
      "definitions":{"io.x.Queue":{"type":"object","description":"A queue.","required":["spec"],
        "properties":{"spec":{"$ref":"#/definitions/io.x.QueueSpec"},
                      "labels":{"type":"object","additionalProperties":{"type":"string"}},
                      "tags":{"type":"array","items":{"type":"string","enum":["a","b"]}}},
        "x-kubernetes-group-version-kind":[{"group":"x","kind":"Queue","version":"v1"}]}}})"));
  EXPECT_EQ(document.info().title(), "Strata");
  ASSERT_EQ(document.definitions().named_size(), 1);
  EXPECT_EQ(document.definitions().named(0).name(), "io.x.Queue");
  const openapi::Schema& queue = document.definitions().named(0).value();
  EXPECT_EQ(queue.type().value(0), "object");
  EXPECT_EQ(queue.required(0), "spec");
  EXPECT_EQ(queue.vendor_extension(0).name(), "x-kubernetes-group-version-kind");
  EXPECT_EQ(queue.vendor_extension(0).value().yaml(),
            R"([{"group":"x","kind":"Queue","version":"v1"}])");
  const openapi::Definitions& fields = queue.properties();
  EXPECT_EQ(fields.named(0).value().additional_properties().schema().type().value(0), "string");
  EXPECT_EQ(fields.named(1).value().ref(), "#/definitions/io.x.QueueSpec");
  EXPECT_EQ(fields.named(2).value().items().schema(0).enum_values(1).yaml(), "\"b\"");
}

TEST(OpenApiV2, PathsHaveTheParameterThatShowsDryRun) {
  const openapi::Document document = Converted(json::parse(R"({"paths":{"/api/v1/pods/{name}":{
      "patch":{"operationId":"patchPod","consumes":["application/json-patch+json"],
        "parameters":[{"in":"query","name":"dryRun","type":"string","uniqueItems":true},
                      {"in":"body","name":"body","required":true,"schema":{"type":"object"}}],
        "responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/Pod"}}},
        "x-kubernetes-group-version-kind":{"group":"","kind":"Pod","version":"v1"}},
      "parameters":[{"in":"path","name":"name","required":true,"type":"string"}]}}})"));
  ASSERT_EQ(document.paths().path_size(), 1);
  const openapi::PathItem& path = document.paths().path(0).value();
  EXPECT_EQ(path.parameters(0).parameter().elsewhere().path().name(), "name");
  const openapi::Operation& patch = path.patch();
  EXPECT_EQ(patch.operation_id(), "patchPod");
  EXPECT_EQ(patch.parameters(0).parameter().elsewhere().query().name(), "dryRun");
  EXPECT_TRUE(patch.parameters(1).parameter().body().required());
  EXPECT_EQ(patch.responses().code(0).value().response().schema().schema().ref(),
            "#/definitions/Pod");
  EXPECT_EQ(patch.vendor_extension(0).value().yaml(),
            R"({"group":"","kind":"Pod","version":"v1"})");
}

TEST(OpenApiV2, OddValuesAreLeftOutAndImpossibleOnesRefused) {
  EXPECT_EQ(Converted(json::parse(R"({"swagger":2,"info":[],"paths":[],"definitions":7})"))
                .SerializeAsString(),
            "");
  EXPECT_FALSE(OpenApiV2ToProtobuf(json::array()));
  EXPECT_FALSE(OpenApiV2ToProtobuf(json::parse(R"({"definitions":{"a":1}})")));
  EXPECT_FALSE(OpenApiV2ToProtobuf(json::parse(R"({"paths":{"/":1}})")));
}

TEST(OpenApiV2, ASchemaThatIsTooDeepIsCutOffAndTheOthersStay) {
  json deep = {{"type", "string"}};
  for (int i = 0; i < 64; ++i) {
    deep = {{"type", "object"}, {"properties", {{"a", std::move(deep)}}}};
  }
  const openapi::Document document =
      Converted({{"definitions", {{"deep", deep}, {"other", {{"type", "object"}}}}}});
  ASSERT_EQ(document.definitions().named_size(), 2);
  const openapi::Schema* at = &document.definitions().named(0).value();
  int levels = 0;
  for (; at->properties().named_size() > 0; ++levels) at = &at->properties().named(0).value();
  EXPECT_EQ(levels, 30);
  EXPECT_EQ(at->type().value_size(), 0) << "it may be anything";
}

}  // namespace
}  // namespace strata::wire
