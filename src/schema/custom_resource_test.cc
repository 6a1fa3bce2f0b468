#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "schema/catalog.h"
#include "schema/check.h"
#include "tests/support/cost.h"

namespace strata::schema {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

SchemaRef Make(const std::string& schema) {
  const Result<SchemaRef> made = FromCustomResource(json::parse(schema));
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
  return made ? *made : std::make_shared<Schema>();
}

// "field: message" of everything wrong with a schema whose spec is `spec`.
std::vector<std::string> Broken(const std::string& spec) {
  const json schema = {{"type", "object"}, {"properties", {{"spec", json::parse(spec)}}}};
  std::vector<std::string> texts;
  for (const Problem& problem : SchemaProblems(schema, "at")) {
    texts.push_back(problem.field + ": " + problem.message);
  }
  return texts;
}

json WithDefaults(const Schema& kind, const std::string& object) {
  json value = json::parse(object);
  ApplyDefaults(kind, value);
  return value;
}

TEST(FromCustomResource, PutsInWhatEveryObjectHas) {
  const SchemaRef kind = Make(R"({"type":"object","description":"A thing.","properties":{
      "metadata":{"type":"object"},"spec":{"type":"object"}}})");
  EXPECT_EQ(kind->description, "A thing.");
  EXPECT_EQ(kind->Find("apiVersion")->schema->type, Type::kString);
  EXPECT_EQ(kind->Find("kind")->schema->type, Type::kString);
  EXPECT_NE(kind->Find("metadata")->schema->Find("labels"), nullptr);
  EXPECT_THAT(Validate(*kind, json::object()), IsEmpty());
}

TEST(FromCustomResource, AppliesTheSchemaOfMetadataNameToNames) {
  const SchemaRef kind = Make(R"({"type":"object","properties":{"metadata":{"type":"object",
      "properties":{"name":{"type":"string","maxLength":3}}}}})");
  EXPECT_THAT(Validate(*kind, json::parse(R"({"metadata":{"name":"abc","labels":{"a":"b"}}})")),
              IsEmpty());
  EXPECT_THAT(Validate(*kind, json::parse(R"({"metadata":{"name":"abcd"}})")).size(), 1);
}

TEST(FromCustomResource, DefaultsWorkInsideObjectsThatAreThere) {
  const SchemaRef kind = Make(R"({"type":"object","properties":{"spec":{"type":"object",
      "properties":{"weight":{"type":"integer","default":1},"mode":{"type":"string","nullable":true,
      "default":"x"},"items":{"type":"array","items":{"type":"object",
      "properties":{"n":{"type":"integer","default":0}}}}}}}})");
  EXPECT_EQ(WithDefaults(*kind, "{}"), json::object());
  EXPECT_EQ(WithDefaults(*kind, R"({"spec":{}})"),
            json::parse(R"({"spec":{"weight":1,"mode":"x"}})"));
  EXPECT_EQ(WithDefaults(*kind, R"({"spec":{"weight":null,"mode":null,"items":[{}]}})"),
            json::parse(R"({"spec":{"weight":1,"mode":null,"items":[{"n":0}]}})"));
  EXPECT_EQ(WithDefaults(*kind, R"({"spec":{"weight":0,"mode":""}})"),
            json::parse(R"({"spec":{"weight":0,"mode":""}})"))
      << "an empty value is a value";
}

TEST(FromCustomResource, QuantitiesStayAsSent) {
  const SchemaRef kind = Make(R"({"type":"object","properties":{"spec":{"type":"object",
      "properties":{"cpu":{"anyOf":[{"type":"integer"},{"type":"string"}],
      "pattern":"^[0-9]+m?$","x-kubernetes-int-or-string":true}}}}})");
  json object = json::parse(R"({"spec":{"cpu":"1000m"}})");
  Normalize(*kind, object);
  EXPECT_EQ(object["spec"]["cpu"], "1000m");
  EXPECT_THAT(Validate(*kind, object), IsEmpty());
  EXPECT_THAT(Validate(*kind, json::parse(R"({"spec":{"cpu":1000}})")), IsEmpty());
  EXPECT_EQ(Validate(*kind, json::parse(R"({"spec":{"cpu":"x"}})")).size(), 1U);
  EXPECT_EQ(Validate(*kind, json::parse(R"({"spec":{"cpu":true}})")).size(), 1U);
}

TEST(FromCustomResource, KeepsUnknownFieldsWhereItIsTold) {
  const SchemaRef kind = Make(R"({"type":"object","properties":{"spec":{"type":"object",
      "properties":{"any":{"type":"object","x-kubernetes-preserve-unknown-fields":true,
                           "properties":{"known":{"type":"object"}}},
                    "raw":{"x-kubernetes-preserve-unknown-fields":true},
                    "map":{"type":"object","additionalProperties":true}}}}})");
  const json object = json::parse(R"({"spec":{"any":{"x":1,"known":{"y":1}},"raw":{"z":{}},
                                     "map":{"m":{"n":1}},"no":1}})");
  EXPECT_THAT(UnknownFields(*kind, object).first, ElementsAre("spec.any.known.y", "spec.no"));
}

TEST(FromCustomResource, EmbeddedObjectsHaveMetadata) {
  const SchemaRef kind = Make(R"({"type":"object","properties":{"inner":{"type":"object",
      "x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}})");
  EXPECT_NE(kind->Find("inner")->schema->Find("metadata"), nullptr);
}

TEST(FromCustomResource, ABuiltInTypeByItsNameIsKnownButLeftAsSent) {
  const SchemaRef kind = Make(R"({"type":"object","properties":{"template":{"type":"object",
      "title":"io.k8s.api.core.v1.PodTemplateSpec","description":"The pods.",
      "x-kubernetes-preserve-unknown-fields":true}}})");
  const json sent = json::parse(R"({"template":{"spec":{"containers":[{"name":"c",
      "resources":{"limits":{"cpu":"1000m"}}}]}}})");
  json object = sent;
  ApplyDefaults(*kind, object);
  Normalize(*kind, object);
  EXPECT_EQ(object, sent);
  EXPECT_THAT(Validate(*kind, object), IsEmpty());
  EXPECT_THAT(UnknownFields(*kind, json::parse(R"({"template":{"spec":{"contaners":[]}}})")).first,
              ElementsAre("template.spec.contaners"));
  EXPECT_EQ(Validate(*kind, json::parse(R"({"template":{"spec":{"containers":{}}}})")).size(), 1U);
  EXPECT_EQ(WithDefaults(*kind, R"({"template":{"metadata":{"creationTimestamp":null}}})"),
            json::parse(R"({"template":{"metadata":{}}})"));
}

TEST(SchemaProblems, ReportsWhatIsNotStructural) {
  EXPECT_THAT(Broken(R"({"type":"object","properties":{"a":{}}})"),
              ElementsAre("at.properties[spec].properties[a].type: Required value: must not be "
                          "empty for specified object fields"));
  EXPECT_THAT(Broken(R"({"type":"array","items":{}})"),
              ElementsAre("at.properties[spec].items.type: Required value: must not be empty for "
                          "specified array items"));
  EXPECT_THAT(Broken(R"({"type":"array"})"),
              ElementsAre("at.properties[spec].items: Required value: must be specified"));
  EXPECT_THAT(
      Broken(R"({"type":"text"})"),
      ElementsAre("at.properties[spec].type: Unsupported value: \"text\": supported values: "
                  "\"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\""));
  EXPECT_THAT(Broken(R"({"type":"object","$ref":"#/x"})"),
              ElementsAre("at.properties[spec].$ref: Forbidden: $ref is not supported"));
  EXPECT_THAT(Broken(R"({"type":"object","properties":{},"additionalProperties":true})"),
              ElementsAre("at.properties[spec].additionalProperties: Forbidden: "
                          "additionalProperties and properties are mutual exclusive"));
  EXPECT_THAT(Broken(R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})"),
              ElementsAre(HasSubstr("uniqueItems cannot be set to true")));
  EXPECT_THAT(Broken(R"({"type":"string","pattern":"("})"),
              ElementsAre(StartsWith("at.properties[spec].pattern: Invalid value: \"(\": must be a "
                                     "valid regular expression, but isn't: ")));
  EXPECT_THAT(Broken(R"({"type":"object","anyOf":[{"type":"object"}]})"),
              ElementsAre("at.properties[spec].anyOf[0].type: Forbidden: must be empty to be "
                          "structural"));
  EXPECT_THAT(Broken("7"), ElementsAre("at.properties[spec]: Invalid value: 7: must be an object"));
}

TEST(SchemaProblems, NamesListsAndDefaultsThatMakeNoSense) {
  EXPECT_THAT(Broken(R"({"type":"array","x-kubernetes-list-type":"bag",
                         "items":{"type":"string"}})"),
              ElementsAre("at.properties[spec].x-kubernetes-list-type: Unsupported value: \"bag\": "
                          "supported values: \"atomic\", \"set\", \"map\""));
  EXPECT_THAT(Broken(R"({"type":"array","x-kubernetes-list-type":"map",
                         "items":{"type":"object"}})"),
              ElementsAre(HasSubstr("must not be empty if x-kubernetes-list-type is map")));
  EXPECT_THAT(Broken(R"({"type":"array","x-kubernetes-list-type":"map",
                         "x-kubernetes-list-map-keys":["k"],"items":{"type":"object"}})"),
              ElementsAre(HasSubstr("entries must all be names of item properties")));
  EXPECT_THAT(Broken(R"({"type":"array","x-kubernetes-list-type":"map",
                         "x-kubernetes-list-map-keys":["k"],
                         "items":{"type":"object","properties":{"k":{"type":"string"}}}})"),
              ElementsAre(HasSubstr("it must have a default or be a required property")));
  EXPECT_THAT(Broken(R"({"type":"integer","default":"x"})"),
              ElementsAre(StartsWith("at.properties[spec].default: Invalid value: \"string\"")));
  EXPECT_THAT(Broken(R"({"type":"integer","minimum":"x","minLength":-1,"enum":{}})").size(), 3);
  EXPECT_THAT(Broken(R"json({"type":"object","x-kubernetes-validations":[{"rule":"self.size()"},
                  {"rule":"true","optionalOldSelf":true}]})json"),
              ElementsAre("at.properties[spec].x-kubernetes-validations[0].rule: Invalid value: "
                          "\"self.size()\": compilation failed: must evaluate to a bool",
                          "at.properties[spec].x-kubernetes-validations[1].rule: Invalid value: "
                          "\"true\": compilation failed: optionalOldSelf is not supported"));
  EXPECT_THAT(
      Broken(R"({"type":"array","items":{"type":"object","properties":{"a":{"type":"string",
                  "x-kubernetes-validations":[{"rule":"self == oldSelf"}]}}}})"),
      ElementsAre("at.properties[spec].items.properties[a].x-kubernetes-validations[0].rule: "
                  "Invalid value: \"self == oldSelf\": oldSelf cannot be used on the "
                  "uncorrelatable portion of the schema within at.properties[spec]"));
  EXPECT_THAT(Broken(R"({"type":"object","x-kubernetes-validations":[{"rule":" "}]})"),
              ElementsAre("at.properties[spec].x-kubernetes-validations[0].rule: Required value: "
                          "rule is not specified"));
}

TEST(SchemaProblems, TheRootIsAnObject) {
  EXPECT_EQ(SchemaProblems(json::parse(R"({"type":"string"})"), "at")[0].message,
            "Invalid value: \"string\": must be object at the root");
  EXPECT_EQ(SchemaProblems(json::object(), "at")[0].message,
            "Required value: must not be empty at the root");
  EXPECT_THAT(FromCustomResource(json::array()).error().message,
              "openAPIV3Schema: Invalid value: []: must be an object");
}

TEST(SchemaProblems, ABottomlessSchemaIsRefused) {
  json schema = {{"type", "string"}};
  for (int i = 0; i < 10'000; ++i) schema = {{"type", "array"}, {"items", std::move(schema)}};
  EXPECT_THAT(
      SchemaProblems({{"type", "object"}, {"properties", {{"spec", std::move(schema)}}}}, "at")[0]
          .message,
      "Forbidden: schemas nested this deeply are not supported");
}

TEST(FromCustomResource, ConditionsValidateFieldsDefinedElsewhere) {
  const SchemaRef kind = Make(R"({"type":"object","properties":{"spec":{"type":"object",
      "properties":{"list":{"type":"array","items":{"type":"object",
                            "properties":{"name":{"type":"string"}}}}},
      "anyOf":[{"properties":{"list":{"minItems":2,"items":{"properties":{"name":{"minLength":2}}}}}},
               {"not":{"required":["list"]}}]}}})");
  EXPECT_THAT(Validate(*kind, json::parse(R"({"spec":{"list":[{"name":"ab"},{"name":"cd"}]}})")),
              IsEmpty());
  EXPECT_THAT(Validate(*kind, json::parse(R"({"spec":{}})")), IsEmpty());
  EXPECT_EQ(
      Validate(*kind, json::parse(R"({"spec":{"list":[{"name":"a"},{"name":"cd"}]}})")).size(), 1U);
}

TEST(SchemaProblems, ConditionsCannotConstrainEveryKey) {
  EXPECT_THAT(Broken(R"({"type":"object","anyOf":[{"additionalProperties":{"type":"string"}}]})"),
              ElementsAre("at.properties[spec].anyOf[0].additionalProperties: Forbidden: must be "
                          "undefined to be structural"));
}

TEST(SchemaProblems, RejectsBoundsThatAreNotCounts) {
  EXPECT_THAT(Broken(R"({"type":"string","maxLength":18446744073709551615})"),
              ElementsAre(HasSubstr("maxLength: Invalid value: 18446744073709551615")));
}

TEST(SchemaProblems, AreAHundredAndACountWithShortPaths) {
  json properties = json::object();
  for (int i = 0; i < 1'000; ++i) {
    properties[std::to_string(i) + std::string(2'000, 'x')] = json::object();
  }
  const std::vector<Problem> problems =
      SchemaProblems({{"type", "object"}, {"properties", std::move(properties)}}, "at");
  ASSERT_EQ(problems.size(), 101U);
  EXPECT_EQ(problems.back().message, "and 900 more problems");
  EXPECT_LT(problems.front().field.size(), 300U);
}

TEST(FromCustomResource, RequiredNamesCostTheSameHoweverMany) {
  const auto of = [](int count) {
    json schema = {{"type", "object"}};
    for (int i = 0; i < count; ++i) {
      schema["required"].push_back("a" + std::to_string(i));
      schema["properties"]["b" + std::to_string(i)] = {{"type", "string"}};
    }
    return [schema = json({{"type", "object"}, {"properties", {{"spec", schema}}}})] {
      (void)FromCustomResource(schema).value();
    };
  };
  EXPECT_LT(testing::CostRatio(of(500), of(4'000)), 24);
}

}  // namespace
}  // namespace strata::schema
