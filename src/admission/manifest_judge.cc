#include "admission/manifest_judge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/api_error.h"
#include "json/access.h"
#include "json/parse.h"
#include "objects/accepted.h"
#include "objects/annotation_values.h"
#include "objects/value_to_json.h"
#include "objects/yaml_to_json.h"
#include "schema/catalog.h"
#include "schema/check.h"
#include "schema/json_node.h"
#include "schema/path.h"
#include "schema/walk.h"

namespace strata::admission {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestPath = 1024;
constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

using ValueProblem = std::string (*)(std::string_view key, std::string_view value);

// A value of a manifest for schema/walk.h. Must not outlive its document.
class ValueNode {
 public:
  explicit ValueNode(const objects::Value& value) : value_(value) {}

  [[nodiscard]] bool IsArray() const { return value_.type() == objects::Value::Type::kArray; }
  [[nodiscard]] bool IsObject() const { return value_.type() == objects::Value::Type::kObject; }
  template <typename Visit>
  void ForEachItem(const Visit& visit) const {
    for (const objects::Value& item : value_.Items()) visit(ValueNode(item));
  }
  template <typename Visit>
  void ForEachMember(const Visit& visit) const {
    for (const auto& member : value_.Members()) visit(member.key, ValueNode(member.value));
  }
  [[nodiscard]] std::optional<std::string_view> Text() const {
    const bool is_text = value_.type() == objects::Value::Type::kString;
    return is_text ? std::optional(value_.AsString()) : std::nullopt;
  }

 private:
  objects::Value value_;
};

// `map` is the annotations or the labels.
template <typename Node>
void AddBadValues(const Node& map,
                  const schema::Path& path,
                  ValueProblem problem_of,
                  std::vector<std::string>& faults) {
  if (!map.IsObject()) return;
  map.ForEachMember([&](std::string_view key, const Node& value) {
    const std::optional<std::string_view> text = value.Text();
    const std::string problem = text ? problem_of(key, *text) : "";
    if (!problem.empty()) {
      faults.push_back(fmt::format("{}[{}]: {}", path.ToString(), key, problem));
    }
  });
}

struct Faults {
  schema::UnknownPaths unknown;
  std::vector<std::string> values;
};

template <typename Node>
Faults FindFaults(const schema::Schema& schema, const Node& object) {
  Faults faults;
  const auto enter = [&](const schema::Schema& type, const Node& node, const schema::Path& path) {
    if (type.type_name != kObjectMeta) return true;
    node.ForEachMember([&](std::string_view key, const Node& map) {
      const schema::Path at = path.Key(key);
      if (key == "annotations") AddBadValues(map, at, objects::AnnotationProblem, faults.values);
      if (key == "labels") AddBadValues(map, at, objects::LabelProblem, faults.values);
    });
    return true;
  };
  schema::WalkKnown(schema, object, schema::Path(), enter, [&](const schema::Path& path) {
    faults.unknown.Add(path);
  });
  return faults;
}

std::vector<std::string> Sentences(const Faults& faults) {
  std::vector<std::string> sentences;
  for (const std::string& path : faults.unknown.first) {
    sentences.push_back(fmt::format("unknown field \"{}\"", Shortened(path, kLongestPath)));
  }
  if (faults.unknown.more > 0) {
    sentences.push_back(fmt::format("and {} more unknown fields", faults.unknown.more));
  }
  sentences.insert(sentences.end(), faults.values.begin(), faults.values.end());
  return sentences;
}

void Remove(const std::vector<std::string>& known, std::vector<std::string>& faults) {
  std::erase_if(faults, [&](const std::string& fault) {
    return std::find(known.begin(), known.end(), fault) != known.end();
  });
}

// The schemas of Volcano's kinds, from our own definitions of them.
using OwnSchemas = std::map<std::tuple<std::string, std::string, std::string>, schema::SchemaRef>;

OwnSchemas ReadOwnSchemas() {
  OwnSchemas schemas;
  for (const std::string_view text : schema::OwnDefinitions()) {
    const auto documents = objects::YamlToJson(text);
    if (!documents || documents->empty()) continue;
    const json definition = ParseJsonOrNull(documents->front());
    const json& spec = ObjectAt(definition, {"spec"});
    for (const json& version : ListAt(spec, {"versions"})) {
      auto schema = schema::FromCustomResource(ObjectAt(version, {"schema", "openAPIV3Schema"}));
      if (!schema) continue;
      schemas.emplace(
          std::tuple(
              TextAt(spec, {"group"}), TextAt(version, {"name"}), TextAt(spec, {"names", "kind"})),
          std::move(*schema));
    }
  }
  return schemas;
}

schema::SchemaRef OwnSchema(const objects::Kind& kind) {
  static const OwnSchemas schemas = ReadOwnSchemas();
  const auto found = schemas.find(
      std::tuple(std::string(kind.group), std::string(kind.version), std::string(kind.kind)));
  return found == schemas.end() ? nullptr : found->second;
}

// A server drops the status of a new object unread.
void AddSchemaProblems(const schema::Schema& schema,
                       json object,
                       std::vector<std::string>& faults) {
  object.erase("status");
  schema::ApplyDefaults(schema, object);
  for (const schema::Problem& problem : schema::Validate(schema, object)) {
    if (problem.field == "<nil>") continue;  // that rules wait for the problems before it
    faults.push_back(fmt::format("{}: {}", problem.field, problem.message));
  }
}

}  // namespace

std::vector<std::string> StrictFaults(const schema::Schema& schema,
                                      const json& object,
                                      const json& before) {
  Faults faults = FindFaults(schema, schema::JsonNode(object));
  if (!before.is_null() && !(faults.unknown.first.empty() && faults.values.empty())) {
    const Faults kept = FindFaults(schema, schema::JsonNode(before));
    Remove(kept.unknown.first, faults.unknown.first);
    Remove(kept.values, faults.values);
    faults.unknown.more -= std::min(faults.unknown.more, kept.unknown.more);
  }
  return Sentences(faults);
}

std::vector<std::string> JudgeManifest(const objects::Kind& kind, const objects::Value& object) {
  schema::SchemaRef schema = schema::BuiltIn(kind.group, kind.version, kind.kind);
  const bool custom = schema == nullptr;
  if (custom) schema = OwnSchema(kind);
  if (schema == nullptr) return {};
  std::vector<std::string> faults = Sentences(FindFaults(*schema, ValueNode(object)));
  // A server has checked the types of what it has accepted. Large snapshots are not copied.
  if (!custom && objects::IsAccepted(object)) return faults;
  json copy = objects::ToJson(object);
  if (custom) {
    AddSchemaProblems(*schema, std::move(copy), faults);
  } else if (const Status decodes = schema::CheckDecodes(*schema, copy); !decodes) {
    faults.push_back(decodes.error().message);
  }
  return faults;
}

}  // namespace strata::admission
