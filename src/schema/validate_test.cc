#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "schema/catalog.h"
#include "schema/check.h"
#include "schema/test_json.h"
#include "tests/support/property.h"

namespace strata::schema {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

SchemaRef Kind(const std::string& spec) {
  const json schema = {{"type", "object"}, {"properties", {{"spec", json::parse(spec)}}}};
  const Result<SchemaRef> made = FromCustomResource(schema);
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
  return made ? *made : std::make_shared<Schema>();
}

// "field: message (reason)" of each problem of an object with that spec.
std::vector<std::string> Wrong(const SchemaRef& kind, const std::string& spec) {
  std::vector<std::string> texts;
  for (const Problem& problem : Validate(*kind, {{"spec", json::parse(spec)}})) {
    texts.push_back(problem.field + ": " + problem.message + " (" + problem.reason + ")");
  }
  return texts;
}

TEST(Validate, NamesATypeAsTheServerDoes) {
  const SchemaRef kind = Kind(R"({"type":"object","properties":{"tier":{"type":"integer"},
      "count":{"type":"integer","format":"int32"},"on":{"type":"boolean"},"ratio":{"type":"number"},
      "list":{"type":"array","items":{"type":"string"}},
      "either":{"x-kubernetes-int-or-string":true}}})");
  EXPECT_THAT(Wrong(kind, R"({"tier":"x"})"),
              ElementsAre("spec.tier: Invalid value: \"string\": spec.tier in body must be of type "
                          "integer: \"string\" (FieldValueTypeInvalid)"));
  EXPECT_THAT(Wrong(kind, R"({"tier":1.5})"),
              ElementsAre("spec.tier: Invalid value: \"number\": spec.tier in body must be of type "
                          "integer: \"number\" (FieldValueTypeInvalid)"));
  EXPECT_THAT(Wrong(kind, R"({"tier":null})"),
              ElementsAre("spec.tier: Invalid value: \"null\": spec.tier in body must be of type "
                          "integer: \"null\" (FieldValueTypeInvalid)"));
  EXPECT_THAT(Wrong(kind, R"({"count":true})"),
              ElementsAre("spec.count: Invalid value: \"\": spec.count in body must be of type "
                          "int32: \"\" (FieldValueTypeInvalid)"));
  EXPECT_THAT(Wrong(kind, R"({"either":[]})"),
              ElementsAre("spec.either: Invalid value: \"array\": spec.either in body must be of "
                          "type integer,string: \"array\" (FieldValueTypeInvalid)"));
  EXPECT_THAT(Wrong(kind, R"({"list":["a",2]})"),
              ElementsAre("spec.list[1]: Invalid value: \"integer\": spec.list[1] in body must be "
                          "of type string: \"integer\" (FieldValueTypeInvalid)"));
  EXPECT_THAT(
      Wrong(kind, R"({"tier":1.0,"count":3,"on":false,"ratio":2,"list":[],"either":"50%"})"),
      IsEmpty());
}

TEST(Validate, NamesLimitsAsTheServerDoes) {
  const SchemaRef kind = Kind(R"({"type":"object","required":["need"],"properties":{
      "weight":{"type":"integer","format":"int32","minimum":1,"maximum":65535},
      "mode":{"type":"string","enum":["hard","soft"]},
      "name":{"type":"string","minLength":2,"maxLength":4,"pattern":"^[a-z]+$"},
      "list":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string"}},
      "some":{"type":"object","minProperties":1,"maxProperties":1,
              "additionalProperties":{"type":"integer"}},
      "even":{"type":"integer","multipleOf":2},
      "open":{"type":"number","minimum":0,"exclusiveMinimum":true},
      "when":{"type":"string","format":"date-time"},"need":{"type":"string"}}})");
  const auto wrong = [&](const std::string& field) {
    return Wrong(kind, R"({"need":"x",)" + field + "}");
  };
  EXPECT_THAT(Wrong(kind, "{}"), ElementsAre("spec.need: Required value (FieldValueRequired)"));
  EXPECT_THAT(wrong(R"("weight":0)"),
              ElementsAre("spec.weight: Invalid value: 0: spec.weight in body should be greater "
                          "than or equal to 1 (FieldValueInvalid)"));
  EXPECT_THAT(wrong(R"("weight":65536)"),
              ElementsAre("spec.weight: Invalid value: 65536: spec.weight in body should be less "
                          "than or equal to 65535 (FieldValueInvalid)"));
  EXPECT_THAT(wrong(R"("weight":4294967296)"),
              ElementsAre("<nil>: Invalid value: \"\": Checked value must be of type integer with "
                          "format int32 in spec.weight (FieldValueInvalid)",
                          "spec.weight: Invalid value: 4294967296: spec.weight in body should be "
                          "less than or equal to 65535 (FieldValueInvalid)"));
  EXPECT_THAT(wrong(R"("mode":"medium")"),
              ElementsAre("spec.mode: Unsupported value: \"medium\": supported values: \"hard\", "
                          "\"soft\" (FieldValueNotSupported)"));
  EXPECT_THAT(wrong(R"("name":"abcde")"),
              ElementsAre("spec.name: Too long: may not be more than 4 bytes (FieldValueTooLong)"));
  EXPECT_THAT(wrong(R"("name":"A\"")"),
              ElementsAre("spec.name: Invalid value: \"A\\\"\": spec.name in body should match "
                          "'^[a-z]+$' (FieldValueInvalid)"));
  EXPECT_THAT(wrong(R"("name":"a")"),
              ElementsAre("spec.name: Invalid value: \"a\": spec.name in body should be at least 2 "
                          "chars long (FieldValueInvalid)"));
  EXPECT_THAT(wrong(R"("list":[])"),
              ElementsAre("spec.list: Invalid value: 0: spec.list in body should have at least 1 "
                          "items (FieldValueInvalid)"));
  EXPECT_THAT(wrong(R"("list":["a","b","c"])"),
              ElementsAre("spec.list: Too many: 3: must have at most 2 items (FieldValueTooMany)"));
  EXPECT_THAT(wrong(R"("some":{})"),
              ElementsAre("spec.some: Invalid value: 0: spec.some in body should have at least 1 "
                          "properties (FieldValueInvalid)"));
  EXPECT_THAT(wrong(R"("some":{"a":1,"b":2})"),
              ElementsAre("spec.some: Too many: 2: must have at most 1 item (FieldValueTooMany)"));
  EXPECT_THAT(wrong(R"("some":{"a":"x"})"),
              ElementsAre("spec.some.a: Invalid value: \"string\": spec.some.a in body must be of "
                          "type integer: \"string\" (FieldValueTypeInvalid)"));
  EXPECT_THAT(wrong(R"("even":3)"),
              ElementsAre("spec.even: Invalid value: 3: spec.even in body should be a multiple of "
                          "2 (FieldValueInvalid)"));
  EXPECT_THAT(wrong(R"("open":0)"),
              ElementsAre("spec.open: Invalid value: 0: spec.open in body should be greater than 0 "
                          "(FieldValueInvalid)"));
  EXPECT_THAT(wrong(R"("when":"now")"),
              ElementsAre("spec.when: Invalid value: \"now\": spec.when in body must be of type "
                          "date-time: \"now\" (FieldValueTypeInvalid)"));
  EXPECT_THAT(wrong(R"("weight":1,"mode":"soft","name":"äöü","list":["a"],"some":{"a":1},
                     "when":"2026-01-02T03:04:05Z","even":2,"open":0.1)"),
              ElementsAre("spec.name: Invalid value: \"äöü\": spec.name in body should match "
                          "'^[a-z]+$' (FieldValueInvalid)"))
      << "three characters, six bytes";
}

TEST(Validate, FindsDuplicateItemsInListsWithKeys) {
  const SchemaRef kind = Kind(R"({"type":"object","properties":{
      "set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
      "map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
             "items":{"type":"object","required":["k"],
                      "properties":{"k":{"type":"string"},"v":{"type":"integer"}}}},
      "plain":{"type":"array","items":{"type":"string"}}}})");
  EXPECT_THAT(Wrong(kind, R"({"set":["a","b","a"],"map":[{"k":"x","v":1},{"k":"x","v":2}],
                              "plain":["a","a"]})"),
              ElementsAre("spec.map[1]: Duplicate value: {\"k\":\"x\"} (FieldValueDuplicate)",
                          "spec.set[2]: Duplicate value: \"a\" (FieldValueDuplicate)"));
}

TEST(Validate, AsksForAlternatives) {
  const SchemaRef kind = Kind(R"({"type":"object",
      "properties":{"a":{"type":"string"},"b":{"type":"string"},"n":{"type":"integer"}},
      "anyOf":[{"required":["a"]},{"required":["b"]}],
      "oneOf":[{"required":["a"]},{"required":["b"]}],
      "allOf":[{"properties":{"n":{"minimum":1}}}],
      "not":{"properties":{"a":{"enum":["no"]}},"required":["a"]}})");
  EXPECT_THAT(Wrong(kind, R"({"a":"x","n":1})"), IsEmpty());
  EXPECT_THAT(
      Wrong(kind, "{}"),
      ElementsAre("<nil>: Invalid value: \"\": \"spec\" must validate at least one schema (anyOf) "
                  "(FieldValueInvalid)",
                  "<nil>: Invalid value: \"\": \"spec\" must validate one and only one schema "
                  "(oneOf). Found none valid (FieldValueInvalid)"));
  EXPECT_THAT(Wrong(kind, R"({"a":"x","b":"y"})"),
              ElementsAre("<nil>: Invalid value: \"\": \"spec\" must validate one and only one "
                          "schema (oneOf). Found 2 valid alternatives (FieldValueInvalid)"));
  EXPECT_THAT(Wrong(kind, R"({"a":"x","n":0})"),
              ElementsAre("spec.n: Invalid value: 0: spec.n in body should be greater than or "
                          "equal to 1 (FieldValueInvalid)"));
  EXPECT_THAT(Wrong(kind, R"({"a":"no"})"),
              ElementsAre("<nil>: Invalid value: \"\": \"spec\" must not validate the schema (not) "
                          "(FieldValueInvalid)"));
}

constexpr const char* kRuled = R"json({"type":"object","required":["n"],"properties":{
    "n":{"type":"integer"},
    "t":{"type":"object",
      "properties":{"highestTierAllowed":{"type":"integer"},"highestTierName":{"type":"string"}},
      "x-kubernetes-validations":[{"rule":"self.nobody.knows()"},
        {"rule":"!has(self.highestTierAllowed) || self.highestTierAllowed < 9"},{"message":"not both","rule":
        "!has(self.highestTierAllowed) || !has(self.highestTierName) || self.highestTierName == ''"
      }]}}})json";

TEST(Validate, ChecksRulesThatAreSupported) {
  const SchemaRef kind = Kind(kRuled);
  EXPECT_THAT(Wrong(kind, R"({"n":1,"t":{"highestTierAllowed":1}})"), IsEmpty());
  EXPECT_THAT(Wrong(kind, R"({"n":1,"t":{"highestTierAllowed":1,"highestTierName":""}})"),
              IsEmpty());
  EXPECT_THAT(Wrong(kind, R"({"n":1,"t":{"highestTierAllowed":1,"highestTierName":"x"}})"),
              ElementsAre("spec.t: Invalid value: not both (FieldValueInvalid)"));
  EXPECT_THAT(Wrong(kind, R"({"n":1,"t":{"highestTierAllowed":9}})"),
              ElementsAre("spec.t: Invalid value: failed rule: !has(self.highestTierAllowed) || "
                          "self.highestTierAllowed < 9 (FieldValueInvalid)"));
}

TEST(Validate, TellsWhyARuleCannotBeEvaluated) {
  const SchemaRef kind = Kind(R"json({"type":"object","properties":{
      "l":{"type":"array","items":{"type":"integer"}},"m":{"type":"integer"}},
      "x-kubernetes-validations":[{"rule":"self.m > 0","message":"m must be positive"},
        {"rule":"self.l.all(a, self.l.all(b, self.l.all(c, a == b && b == c)))"}]})json");
  EXPECT_THAT(Wrong(kind, R"({"l":[]})"),
              ElementsAre("spec: Invalid value: no such key: m evaluating rule: m must be positive "
                          "(FieldValueInvalid)"));
  json many = {{"m", 1}, {"l", json::array_t(200, 1)}};
  EXPECT_THAT(
      Wrong(kind, many.dump()),
      ElementsAre("spec: Invalid value: no further validation rules will be run due to call "
                  "cost exceeds limit for rule: self.l.all(a, self.l.all(b, self.l.all(c, a "
                  "== b && b == c))) (FieldValueInvalid)"));
}

TEST(Validate, ComparesItemsOfAListByTheirKeysWithThePreviousOnes) {
  const Result<SchemaRef> kind = FromCustomResource(json::parse(R"json({"type":"object",
      "properties":{"l":{"type":"array","x-kubernetes-list-type":"map",
      "x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],
      "properties":{"k":{"type":"string"},"v":{"type":"integer","x-kubernetes-validations":[
      {"rule":"self >= oldSelf","message":"must not shrink"}]}}}}}})json"));
  ASSERT_TRUE(kind);
  const json before = json::parse(R"({"l":[{"k":"a","v":5},{"k":"b","v":1}]})");
  const json after = json::parse(R"({"l":[{"k":"b","v":1},{"k":"a","v":4},{"k":"c","v":0}]})");
  EXPECT_THAT(Validate(**kind, after), IsEmpty());
  const std::vector<Problem> problems = Validate(**kind, after, &before);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].field, "l[1].v");
  EXPECT_EQ(problems[0].message, "Invalid value: 4: must not shrink");
}

TEST(Validate, SaysThatRulesWereNotCheckedWhenTheObjectIsInvalidAnyway) {
  EXPECT_THAT(Wrong(Kind(kRuled), R"({"t":{"highestTierAllowed":1,"highestTierName":"x"}})"),
              ElementsAre("spec.n: Required value (FieldValueRequired)",
                          "<nil>: Invalid value: null: some validation rules were not checked "
                          "because the object was invalid; correct the existing errors to complete "
                          "validation (FieldValueInvalid)"));
}

TEST(ValidateProperty, NoJsonCrashesAnyWalkAndDefaultsAreIdempotent) {
  const std::vector<std::string> keys = {"metadata",   "labels",     "spec",
                                         "status",     "containers", "name",
                                         "resources",  "limits",     "cpu",
                                         "ports",      "protocol",   "volumes",
                                         "emptyDir",   "sizeLimit",  "tier",
                                         "t",          "n",          "odd",
                                         "conditions", "type",       "creationTimestamp",
                                         "a",          "b",          "highestTierAllowed"};
  const std::vector<SchemaRef> kinds = {
      BuiltIn("", "v1", "Pod"), BuiltIn("", "v1", "Node"), Kind(kRuled)};
  strata::testing::CheckProperty(100, [&] {
    json object = *testing::AnyJson(keys, 4);
    const SchemaRef kind = *rc::gen::elementOf(kinds);
    (void)CheckDecodes(*kind, object);
    (void)Validate(*kind, object);
    (void)UnknownFields(*kind, object);
    ApplyDefaults(*kind, object);
    json twice = object;
    ApplyDefaults(*kind, twice);
    RC_ASSERT(twice == object);
    Normalize(*kind, object);
    twice = object;
    Normalize(*kind, twice);
    RC_ASSERT(twice == object);
  });
}

// {"key0":<value>, ...}, the keys padded to a length.
json ManyMembers(int count, const json& value, std::size_t key_length = 0) {
  json object = json::object();
  for (int i = 0; i < count; ++i) {
    std::string key = "key" + std::to_string(i);
    key.resize(std::max(key.size(), key_length), 'x');
    object[key] = value;
  }
  return object;
}

TEST(Validate, NamesAHundredProblemsAndCountsTheOthers) {
  const SchemaRef kind = Kind(R"({"type":"object","additionalProperties":{"type":"integer"}})");
  const std::vector<Problem> problems =
      Validate(*kind, {{"spec", ManyMembers(5'000, "no number")}});
  ASSERT_EQ(problems.size(), 101U);
  EXPECT_EQ(problems.back().message, "and 4900 more problems");
}

TEST(Validate, MessagesAreNotMuchLongerThanWhatTheySpeakOf) {
  const SchemaRef kind = Kind(R"({"type":"object","additionalProperties":{
      "type":"object","additionalProperties":{"type":"string","maxLength":1,"pattern":"^a$"}}})");
  const json inner = ManyMembers(100, std::string(1'000, 'y'));
  const json spec = {{std::string(1 << 20U, 'k'), inner}};
  std::size_t size = 0;
  for (const Problem& problem : Validate(*kind, {{"spec", spec}})) {
    size += problem.field.size() + problem.message.size();
  }
  EXPECT_LT(size, std::size_t{1} << 20U);
}

TEST(UnknownFields, AreAHundredAndACount) {
  const SchemaRef kind = Kind(R"({"type":"object","properties":{"a":{"type":"object"}}})");
  const UnknownPaths unknown =
      UnknownFields(*kind, {{"spec", {{"a", ManyMembers(300, 1, 5'000)}}}});
  EXPECT_EQ(unknown.first.size(), 100U);
  EXPECT_EQ(unknown.more, 200U);
  EXPECT_EQ(unknown.first.front().size(), std::string("spec.a.").size() + 256);
}

}  // namespace
}  // namespace strata::schema
