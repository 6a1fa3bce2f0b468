#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "patch/limits.h"
#include "patch/patch.h"
#include "patch/strategic_list.h"

namespace strata::patch {
namespace {

using Json = nlohmann::json;
using schema::Schema;

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kElementOrder = "$setElementOrder/";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList/";

tl::unexpected<Error> BadPatch(std::string message) {
  return Fail(Code::kInvalidArgument, std::move(message));
}

bool IsDirective(std::string_view key) {
  return key == kPatch || key == kRetainKeys || key.starts_with(kElementOrder) ||
         key.starts_with(kDeleteFromList);
}

// The schema of a field; nullptr where nothing is known.
const Schema* SchemaOf(const Schema* schema, std::string_view key) {
  if (schema == nullptr) return nullptr;
  if (const schema::Field* field = schema->Find(key)) return field->schema.get();
  return schema->items.get();
}

bool MergesList(const Schema* schema) {
  return schema != nullptr && (schema->patch_strategy == schema::PatchStrategy::kMerge ||
                               schema->patch_strategy == schema::PatchStrategy::kMergeRetainKeys);
}

const std::string& MergeKey(const Schema* schema) {
  static const std::string none;
  return schema == nullptr ? none : schema->patch_merge_key;
}

// What a patch leaves where there was nothing: itself without directives and nulls. None when it
// says that there shall be nothing.
std::optional<Json> WithoutDirectives(const Json& patch) {
  if (patch.is_array()) {
    Json list = Json::array();
    for (const Json& item : patch) {
      if (std::optional<Json> plain = WithoutDirectives(item)) list.push_back(*std::move(plain));
    }
    return list;
  }
  if (!patch.is_object()) return patch;
  if (const auto found = patch.find(kPatch); found != patch.end() && *found == "delete") {
    return std::nullopt;
  }
  Json object = Json::object();
  for (const auto& [key, value] : patch.items()) {
    if (value.is_null() || IsDirective(key)) continue;
    if (std::optional<Json> plain = WithoutDirectives(value)) object[key] = *std::move(plain);
  }
  return object;
}

Status MergeMap(const Schema* schema, Json& object, const Json& patch);

// The directives of the elements of a list patch: deletions happen in `object`, the rest of the
// patch is returned. None when the list is to be replaced by `plain`.
struct ListDirectives {
  bool replaces = false;
  Json plain = Json::array();
};

Result<ListDirectives> RunListDirectives(const std::string& key, Json& object, const Json& patch) {
  ListDirectives result;
  for (const Json& item : patch) {
    const auto directive = item.find(kPatch);
    if (directive == item.end()) {
      result.plain.push_back(item);
      continue;
    }
    if (*directive == "replace") {
      result.replaces = true;
    } else if (*directive == "merge") {
      return BadPatch("merging lists cannot yet be specified in the patch");
    } else if (*directive == "delete") {
      const auto value = item.find(key);
      if (value == item.end()) return NoMergeKey(item, key);
      TRY(EraseWithKey(object, key, *value));
    } else {
      return BadPatch("unknown patch type: " + GoText(*directive) + " in map: " + GoText(item));
    }
  }
  return result;
}

Status MergeMapList(const Schema& schema, Json& object, const Json& patch) {
  const std::string& key = schema.patch_merge_key;
  if (key.empty()) return BadPatch("cannot merge lists without merge key for " + schema.go_name);
  TRY_ASSIGN(ListDirectives directives, RunListDirectives(key, object, patch));
  if (directives.replaces) {
    object = WithoutDirectives(directives.plain).value_or(Json::array());
    return {};
  }
  const Json before = object;
  for (const Json& item : directives.plain) {
    const auto value = item.find(key);
    if (value == item.end()) return NoMergeKey(item, key);
    TRY_ASSIGN(const std::size_t at, FindByKey(object, key, *value));
    if (at < object.size()) {
      TRY(MergeMap(schema.items.get(), object[at], item));
    } else if (std::optional<Json> plain = WithoutDirectives(item)) {
      object.push_back(*std::move(plain));
    }
  }
  return PutInOrder(object, directives.plain, before, key);
}

Status MergeScalarList(Json& object, const Json& patch) {
  const Json before = object;
  for (const Json& item : patch) object.push_back(item);
  DropRepeated(object);
  return PutInOrder(object, patch, before, "");
}

Status MergeList(const Schema* schema, Json& object, const Json& patch) {
  if (!MergesList(schema)) {
    object = WithoutDirectives(patch).value_or(Json::array());
    return {};
  }
  if (object.empty() && patch.empty()) return {};
  TRY_ASSIGN(const ElementKind kind, KindOfElements(object, patch));
  if (kind == ElementKind::kScalars) return MergeScalarList(object, patch);
  return MergeMapList(*schema, object, patch);
}

// `object` without the fields that $retainKeys leaves out.
Status RetainKeys(Json& object, const Json& patch) {
  const auto directive = patch.find(kRetainKeys);
  if (directive == patch.end()) return {};
  if (!directive->is_array()) return BadPatch("invalid patch format of retainKeys");
  const auto retained = [&directive](const std::string& key) {
    return std::find(directive->begin(), directive->end(), key) != directive->end();
  };
  for (const auto& [key, value] : patch.items()) {
    if (value.is_null() || IsDirective(key) || retained(key)) continue;
    return BadPatch("invalid patch format of retainKeys");
  }
  for (auto field = object.begin(); field != object.end();) {
    field = retained(field.key()) ? std::next(field) : object.erase(field);
  }
  return {};
}

Status MergeField(const Schema* schema, Json& object, const std::string& key, const Json& patch) {
  if (patch.is_null()) {
    object.erase(key);
    return {};
  }
  const auto found = object.find(key);
  const bool alike = found != object.end() && ((found->is_object() && patch.is_object()) ||
                                               (found->is_array() && patch.is_array()));
  if (alike) {
    return patch.is_object() ? MergeMap(schema, *found, patch) : MergeList(schema, *found, patch);
  }
  if (std::optional<Json> plain = WithoutDirectives(patch)) {
    object[key] = *std::move(plain);
  } else {
    object.erase(key);
  }
  return {};
}

// $setElementOrder/<key>: the list, merged with its patch if there is one, in the wanted order.
Status SetElementOrder(const Schema* schema,
                       Json& object,
                       const std::string& key,
                       const Json& order,
                       const Json& patch) {
  if (!order.is_array()) return BadPatch("invalid patch format of setElementOrder list");
  const auto found = object.find(key);
  const Json before = found == object.end() ? Json::array() : *found;
  const auto change = patch.find(key);
  if (change != patch.end()) {
    if (!change->is_array()) return BadPatch("invalid patch format of setElementOrder list");
    TRY(MergeField(schema, object, key, *change));
  }
  const auto merged = object.find(key);
  if (merged == object.end()) return {};
  if (!merged->is_array() || !before.is_array()) {
    return BadPatch("invalid patch format of setElementOrder list");
  }
  return PutInOrder(*merged, order, before, MergeKey(schema));
}

Status DeleteFromList(Json& object, const std::string& key, const Json& gone) {
  if (!gone.is_array()) return BadPatch("invalid patch format of primitive list");
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return {};
  Json kept = Json::array();
  for (const Json& item : *found) {
    if (std::find(gone.begin(), gone.end(), item) == gone.end()) kept.push_back(item);
  }
  *found = std::move(kept);
  return {};
}

Status MergeMap(const Schema* schema, Json& object, const Json& patch) {
  if (const auto directive = patch.find(kPatch); directive != patch.end()) {
    if (*directive == "delete") {
      object = Json::object();
      return {};
    }
    if (*directive != "replace") {
      return BadPatch("unknown patch type: " + GoText(*directive) + " in map: " + GoText(patch));
    }
    object = Json::object();
    for (const auto& [key, value] : patch.items()) {
      if (key != kPatch) object[key] = value;
    }
    return {};
  }
  TRY(RetainKeys(object, patch));
  for (const auto& [key, value] : patch.items()) {
    if (!key.starts_with(kDeleteFromList)) continue;
    TRY(DeleteFromList(object, key.substr(kDeleteFromList.size()), value));
  }
  for (const auto& [key, value] : patch.items()) {
    if (!key.starts_with(kElementOrder)) continue;
    const std::string field = key.substr(kElementOrder.size());
    TRY(SetElementOrder(SchemaOf(schema, field), object, field, value, patch));
  }
  for (const auto& [key, value] : patch.items()) {
    if (IsDirective(key) || patch.contains(std::string(kElementOrder) + key)) continue;
    TRY(MergeField(SchemaOf(schema, key), object, key, value));
  }
  return {};
}

}  // namespace

Result<Json> StrategicMergePatch(const Schema& schema, const Json& object, const Json& patch) {
  if (!patch.is_object() || !object.is_object()) {
    return BadPatch("invalid JSON document");
  }
  TRY(CheckDepth(patch));
  Json merged = object;
  TRY(MergeMap(&schema, merged, patch));
  return merged;
}

}  // namespace strata::patch
