// The definitions in deploy/crds and the built-in types against manifests that are known to
// be good: the examples and every case of tests/scenario.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "objects/yaml_to_json.h"
#include "schema/catalog.h"
#include "schema/check.h"
#include "schema/problems.h"
#include "schema/rules.h"

namespace strata::schema {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

json ParseYaml(std::string_view text) {
  const Result<std::vector<std::string>> documents = objects::YamlToJson(text);
  EXPECT_TRUE(documents.has_value()) << (documents ? "" : documents.error().message);
  json all = json::array();
  if (!documents) return all;
  for (const std::string& document : *documents) {
    all.push_back(json::parse(document, nullptr, /*allow_exceptions=*/false));
  }
  return all;
}

std::string ReadAll(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return std::move(text).str();
}

// Schemas by "apiVersion kind": those of deploy/crds.
const std::map<std::string, SchemaRef>& OwnKinds() {
  static const std::map<std::string, SchemaRef> own = [] {
    std::map<std::string, SchemaRef> kinds;
    for (const std::string_view text : OwnDefinitions()) {
      const json definitions = ParseYaml(text);
      for (const json& definition : definitions) {
        const json& spec = definition["spec"];
        for (const json& version : spec["versions"]) {
          const Result<SchemaRef> made = FromCustomResource(version["schema"]["openAPIV3Schema"]);
          EXPECT_TRUE(made.has_value()) << spec["group"] << (made ? "" : made.error().message);
          kinds[spec["group"].get<std::string>() + "/" + version["name"].get<std::string>() + " " +
                spec["names"]["kind"].get<std::string>()] = made.value_or(nullptr);
        }
      }
    }
    return kinds;
  }();
  return own;
}

SchemaRef SchemaOf(const json& object) {
  const std::string version = object.value("apiVersion", "");
  const std::string kind = object.value("kind", "");
  if (const auto own = OwnKinds().find(version + " " + kind); own != OwnKinds().end()) {
    return own->second;
  }
  const std::size_t slash = version.find('/');
  if (slash == std::string::npos) return BuiltIn("", version, kind);
  return BuiltIn(version.substr(0, slash), version.substr(slash + 1), kind);
}

// Manifests below examples and the scenarios, without those that are meant to be refused.
std::vector<std::filesystem::path> GoodManifests() {
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"examples", "tests/scenario/cases"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::filesystem::path& path = entry.path();
      const bool refused = path.string().find("faults") != std::string::npos;
      if (path.extension() == ".yaml" && !refused) paths.push_back(path);
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> WhatIsWrong(const json& object) {
  const SchemaRef schema = SchemaOf(object);
  if (schema == nullptr) return {};
  std::vector<std::string> wrong;
  if (const Status decodes = CheckDecodes(*schema, object); !decodes) {
    wrong.push_back(decodes.error().message);
  }
  const UnknownPaths unknown = UnknownFields(*schema, object);
  for (const std::string& field : unknown.first) wrong.push_back("? " + field);
  if (schema->type_name.empty()) {
    for (const Problem& problem : Validate(*schema, object)) {
      wrong.push_back(problem.field + ": " + problem.message);
    }
  }
  return wrong;
}

TEST(OwnKinds, AreAllThere) {
  std::vector<std::string> names;
  for (const auto& [name, schema] : OwnKinds()) names.push_back(name);
  EXPECT_THAT(names,
              ElementsAre("batch.volcano.sh/v1alpha1 Job",
                          "bus.volcano.sh/v1alpha1 Command",
                          "nodeinfo.volcano.sh/v1alpha1 Numatopology",
                          "scheduling.volcano.sh/v1beta1 PodGroup",
                          "scheduling.volcano.sh/v1beta1 Queue",
                          "topology.volcano.sh/v1alpha1 HyperNode"));
}

TEST(OwnKinds, TheirDefinitionsAreValidThemselves) {
  const SchemaRef type = BuiltIn("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
  for (const std::string_view text : OwnDefinitions()) {
    const json definitions = ParseYaml(text);
    for (const json& definition : definitions) {
      EXPECT_THAT(UnknownFields(*type, definition).first, IsEmpty()) << definition["metadata"];
      EXPECT_TRUE(CheckDecodes(*type, definition).has_value()) << definition["metadata"];
      EXPECT_THAT(Validate(*type, definition), IsEmpty()) << definition["metadata"];
    }
  }
}

TEST(OwnKinds, EveryRuleIsSupported) {
  for (const auto& [name, schema] : OwnKinds()) {
    ProblemList problems;
    CheckRulesAreSupported(*schema, name, problems);
    EXPECT_THAT(problems.first(), IsEmpty());
  }
}

// The messages of an object of kind `kind` with that spec.
std::vector<std::string> Messages(const std::string& kind, const std::string& spec) {
  std::vector<std::string> messages;
  for (const Problem& problem : Validate(*OwnKinds().at(kind), {{"spec", ParseYaml(spec)[0]}})) {
    messages.push_back(problem.field + ": " + problem.message);
  }
  return messages;
}

TEST(OwnKinds, AHyperNodeMemberHasOneSelector) {
  const std::string kind = "topology.volcano.sh/v1alpha1 HyperNode";
  EXPECT_THAT(
      Messages(kind, "{tier: 1, members: [{type: Node, selector: {exactMatch: {name: a}}}]}"),
      IsEmpty());
  EXPECT_THAT(Messages(kind, "{tier: 1, members: [{type: Node, selector: {}}]}"),
              ElementsAre("spec.members[0].selector: Invalid value: Either ExactMatch or "
                          "RegexMatch or LabelMatch must be specified"));
  EXPECT_THAT(Messages(kind,
                       "{tier: 1, members: [{type: Node, selector: {exactMatch: {name: a}, "
                       "regexMatch: {pattern: a}}}]}"),
              ElementsAre("spec.members[0].selector: Invalid value: Only one of ExactMatch, "
                          "RegexMatch, or LabelMatch can be specified"));
  EXPECT_THAT(Messages(kind, "{tier: 1, members: [{type: Node}]}"), IsEmpty());
  EXPECT_THAT(Messages(kind, "{tier: 1, members: []}"),
              ElementsAre("spec.members: Invalid value: 0: spec.members in body should have at "
                          "least 1 items"));
}

TEST(OwnKinds, ATypeMistakeInAHyperNodeReadsAsOnARealServer) {
  EXPECT_THAT(Messages("topology.volcano.sh/v1alpha1 HyperNode", "{tier: x}"),
              ElementsAre("spec.tier: Invalid value: \"string\": spec.tier in body must be of type "
                          "integer: \"string\"",
                          "<nil>: Invalid value: null: some validation rules were not checked "
                          "because the object was invalid; correct the existing errors to complete "
                          "validation"));
}

TEST(OwnKinds, ATopologyNamesItsTierInOneWay) {
  for (const char* kind :
       {"scheduling.volcano.sh/v1beta1 PodGroup", "batch.volcano.sh/v1alpha1 Job"}) {
    EXPECT_THAT(Messages(kind, "{networkTopology: {highestTierAllowed: 1}}"), IsEmpty());
    EXPECT_THAT(Messages(kind, "{networkTopology: {highestTierAllowed: 1, highestTierName: ''}}"),
                IsEmpty());
    EXPECT_THAT(
        Messages(kind, "{networkTopology: {highestTierAllowed: 1, highestTierName: rack}}"),
        ElementsAre("spec.networkTopology: Invalid value: highestTierAllowed and highestTierName "
                    "cannot be set at the same time"));
  }
}

TEST(OwnKinds, GetTheirDefaults) {
  const auto with_defaults = [](const std::string& kind, const std::string& spec) {
    json object = {{"spec", ParseYaml(spec)[0]}};
    ApplyDefaults(*OwnKinds().at(kind), object);
    return object["spec"];
  };
  EXPECT_EQ(with_defaults("scheduling.volcano.sh/v1beta1 Queue", "{}"),
            json::parse(R"({"weight":1,"dequeueStrategy":"traverse"})"));
  EXPECT_EQ(with_defaults("scheduling.volcano.sh/v1beta1 PodGroup",
                          "{networkTopology: {}, subGroupPolicy: [{name: a}]}"),
            json::parse(R"({"queue":"default","networkTopology":{"mode":"hard"},
                "subGroupPolicy":[{"name":"a","subGroupSize":1,"minSubGroups":0}]})"));
  EXPECT_EQ(with_defaults("batch.volcano.sh/v1alpha1 Job", "{minAvailable: 2}"),
            json::parse(R"({"minAvailable":2,"maxRetry":3,"queue":"default"})"));
}

TEST(GoodManifests, HaveNoUnknownFieldsAndAreValid) {
  int objects = 0;
  for (const std::filesystem::path& path : GoodManifests()) {
    const json documents = ParseYaml(ReadAll(path));
    for (const json& document : documents) {
      if (!document.is_object()) continue;
      const json items =
          document.value("kind", "") == "List" ? document["items"] : json::array({document});
      for (const json& object : items) {
        if (SchemaOf(object) != nullptr) ++objects;
        EXPECT_THAT(WhatIsWrong(object), IsEmpty()) << path << "\n" << object.value("kind", "");
      }
    }
  }
  EXPECT_GT(objects, 1000);
}

}  // namespace
}  // namespace strata::schema
