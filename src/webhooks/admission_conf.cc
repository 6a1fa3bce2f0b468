#include "webhooks/admission_conf.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "json/access.h"
#include "json/parse.h"
#include "objects/yaml_to_json.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;

constexpr const char* kGroupAnnotation = "volcano.sh/resource-group";

tl::unexpected<Error> BadField(const std::string& field, std::string_view want) {
  return Fail(Code::kInvalidArgument, fmt::format("{}: want {}", field, want));
}

// The documents of a YAML text that is to hold one, as JSON; null when there is none.
Result<json> ParseYaml(std::string_view text) {
  TRY_ASSIGN(const std::vector<std::string> documents, objects::YamlToJson(text));
  if (documents.empty()) return json();
  if (documents.size() > 1) return Fail(Code::kInvalidArgument, "want one document");
  return ParseJson(documents.front());
}

Status CheckWords(const json& words, const std::string& field) {
  for (const json& word : words) {
    if (!word.is_string()) return BadField(field, "strings");
  }
  return {};
}

// The members of the group: namespaces, annotations, or the annotation with the group's name.
Status ReadMembers(const json& item, const std::string& field, ResourceGroup& group) {
  const std::string& key = TextAt(item, {"object", "key"});
  const json& values = ListAt(item, {"object", "value"});
  TRY(CheckWords(values, field + ".object.value"));
  if (key == "namespace") {
    for (const json& value : values) group.spaces.push_back(value.get<std::string>());
    return {};
  }
  if (!key.empty() && key != "annotation") {
    return BadField(field + ".object.key", "namespace or annotation");
  }
  if (key.empty()) group.annotations[kGroupAnnotation] = group.name;
  for (const json& value : values) {  // each is "key: value"
    const std::string& text = value.get_ref<const std::string&>();
    const std::size_t colon = text.find(": ");
    if (colon == std::string::npos) return BadField(field + ".object.value", "\"key: value\"");
    const std::string_view all = text;
    group.annotations[std::string(Trim(all.substr(0, colon)))] = Trim(all.substr(colon + 1));
  }
  return {};
}

Result<ResourceGroup> ReadGroup(const json& item, const std::string& field) {
  ResourceGroup group;
  if (!item.is_object()) return BadField(field, "an object");
  group.name = TextAt(item, {"resourceGroup"});
  if (group.name.empty()) return BadField(field + ".resourceGroup", "a name");
  TRY(ReadMembers(item, field, group));
  group.scheduler_name = TextAt(item, {"schedulerName"});
  if (const json* labels = FindAt(item, {"labels"})) {
    if (!labels->is_object()) return BadField(field + ".labels", "an object");
    TRY(CheckWords(*labels, field + ".labels"));
    group.node_selector = *labels;
  }
  if (const json* tolerations = FindAt(item, {"tolerations"})) {
    if (!tolerations->is_array()) return BadField(field + ".tolerations", "a list");
    group.tolerations = *tolerations;
  }
  if (const std::string& affinity = TextAt(item, {"affinity"}); !affinity.empty()) {
    const auto parsed = ParseJson(affinity);
    if (!parsed || !parsed->is_object()) {
      return BadField(field + ".affinity", "JSON of an affinity");
    }
    group.affinity = *parsed;
  }
  return group;
}

}  // namespace

Result<AdmissionConf> ParseAdmissionConf(std::string_view text) {
  TRY_ASSIGN(const json parsed, ParseYaml(text));
  AdmissionConf conf;
  std::size_t index = 0;
  for (const json& item : ListAt(parsed, {"resourceGroups"})) {
    TRY_ASSIGN(ResourceGroup group, ReadGroup(item, fmt::format("resourceGroups[{}]", index++)));
    conf.groups.push_back(std::move(group));
  }
  return conf;
}

}  // namespace strata::webhooks
