#include "patch/field_walk.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "json/dump.h"
#include "schema/path.h"

namespace strata::patch {
namespace {

using Json = nlohmann::json;
using schema::ListType;
using schema::Schema;
using schema::Type;

const Json* KeyOf(const Schema& list, const std::string& key, const Json& item) {
  if (const auto found = item.find(key); found != item.end()) return &*found;
  if (list.items == nullptr) return nullptr;
  const schema::Field* field = list.items->Find(key);
  if (field == nullptr || !field->schema || !field->schema->default_value) return nullptr;
  return &*field->schema->default_value;
}

const Schema* ItemsOf(const Schema* schema) {
  return schema == nullptr ? nullptr : schema->items.get();
}

Result<FieldSet> FieldsOfMap(const Schema* schema, const Json& map, std::string& path);

// The fields of a list by items; each item is itself in the set.
Result<FieldSet> FieldsOfList(const Schema& schema,
                              Shape shape,
                              const Json& list,
                              std::string& path) {
  std::vector<FieldSet::Child> items;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Result<std::string> element = ElementOf(schema, shape, list[i]);
    if (!element) {
      return Fail(Code::kInvalidArgument,
                  path + ": element " + std::to_string(i) + ": " + element.error().message);
    }
    if (!seen.insert(*element).second) {
      FieldSet twice;
      twice.Below(*element).AddSelf();
      return Fail(Code::kInvalidArgument,
                  path + ": duplicate entries for key " + twice.Paths(1).front());
    }
    FieldSet below;
    below.AddSelf();
    if (ShapeOf(schema.items.get(), list[i]) == Shape::kFields) {
      TRY_ASSIGN(below, FieldsOfMap(schema.items.get(), list[i], path));
      below.AddSelf();
    }
    items.push_back({*std::move(element), std::move(below)});
  }
  return FieldSet::Of(std::move(items));
}

Result<FieldSet> FieldsOfValue(const FieldType& type, const Json& value, std::string& path) {
  FieldSet set;
  const Shape shape = ShapeOf(type.schema, value);
  if (shape == Shape::kLeaf) {
    set.AddSelf();
    return set;
  }
  if (shape != Shape::kFields) {
    TRY_ASSIGN(set, FieldsOfList(*type.schema, shape, value, path));
  } else {
    TRY_ASSIGN(set, FieldsOfMap(type.schema, value, path));
  }
  if (!type.is_named || value.empty()) set.AddSelf();
  return set;
}

Result<FieldSet> FieldsOfMap(const Schema* schema, const Json& map, std::string& path) {
  FieldSet set;
  const std::size_t length = path.size();
  for (const auto& [name, value] : map.items()) {
    path += '.';
    path += CutUtf8(name, schema::kShownKey);
    TRY_ASSIGN(FieldSet below, FieldsOfValue(TypeOfField(schema, name), value, path));
    path.resize(length);
    set.Attach(FieldElement(name), std::move(below));
  }
  return set;
}

// Items of two lists by their path elements, for a merge.
struct Items {
  std::vector<std::string> elements;
  std::map<std::string_view, std::size_t> by_element;  // places in the list
};

Items ItemsByElement(const Schema& schema, Shape shape, const Json& list) {
  Items items;
  items.elements.reserve(list.size());
  for (const Json& item : list) {
    items.elements.push_back(ElementOf(schema, shape, item).value_or(std::string()));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    items.by_element.emplace(items.elements[i], i);
  }
  return items;
}

Json MergeLists(const Schema& schema, Shape shape, Json live, const Json& config) {
  const Items old = ItemsByElement(schema, shape, live);
  const Items wanted = ItemsByElement(schema, shape, config);
  std::vector<std::string_view> shared;  // in the order of `config`
  for (const std::string& element : wanted.elements) {
    if (old.by_element.contains(element)) shared.push_back(element);
  }
  Json merged = Json::array();
  std::size_t at = 0;
  std::size_t next_shared = 0;
  // Takes what only `live` has up to the item that comes next in both.
  const auto take_live = [&] {
    for (; at < live.size(); ++at) {
      if (next_shared < shared.size() && old.elements[at] == shared[next_shared]) return;
      if (!wanted.by_element.contains(old.elements[at])) merged.push_back(std::move(live[at]));
    }
  };
  for (std::size_t i = 0; i < config.size(); ++i) {
    take_live();
    const auto found = old.by_element.find(wanted.elements[i]);
    if (found == old.by_element.end()) {
      merged.push_back(config[i]);
      continue;
    }
    merged.push_back(Merge(schema.items.get(), std::move(live[found->second]), config[i]));
    ++next_shared;
    if (at < live.size() && old.elements[at] == wanted.elements[i]) ++at;
  }
  take_live();
  return merged;
}

void RemoveItems(
    const Schema& schema, Shape shape, const FieldSet& gone, const FieldSet* kept, Json& list) {
  Json rest = Json::array();
  for (Json& item : list) {
    const Result<std::string> element = ElementOf(schema, shape, item);
    const FieldSet* below = element ? gone.Find(*element) : nullptr;
    if (below != nullptr && below->IsMember()) continue;
    if (below != nullptr) {
      RemoveFields(
          schema.items.get(), *below, kept == nullptr ? nullptr : kept->Find(*element), item);
    }
    rest.push_back(std::move(item));
  }
  list = std::move(rest);
}

}  // namespace

std::string FieldElement(std::string_view name) {
  std::string element;
  element.reserve(name.size() + 2);
  element += "f:";
  element += name;
  return element;
}

Shape ShapeOf(const Schema* schema, const Json& value) {
  if (value.is_object()) {
    const bool leaf = schema != nullptr && (schema->atomic || schema->type == Type::kArray);
    return leaf ? Shape::kLeaf : Shape::kFields;
  }
  if (!value.is_array() || schema == nullptr || schema->type != Type::kArray) return Shape::kLeaf;
  if (schema->list_type == ListType::kMap) return Shape::kListMap;
  return schema->list_type == ListType::kSet ? Shape::kListSet : Shape::kLeaf;
}

FieldType TypeOfField(const Schema* schema, std::string_view name) {
  if (schema == nullptr) return {};
  if (const schema::Field* field = schema->Find(name)) {
    return {.schema = field->schema.get(), .is_named = true};
  }
  return {.schema = schema->type == Type::kArray ? nullptr : ItemsOf(schema)};
}

Result<std::string> ElementOf(const Schema& list, Shape shape, const Json& item) {
  if (shape == Shape::kListSet) return "v:" + DumpJson(item);
  if (!item.is_object()) {
    return Fail(Code::kInvalidArgument, "associative list with keys may not have non-map elements");
  }
  Json keys = Json::object();
  for (const std::string& key : list.list_map_keys) {
    const Json* value = KeyOf(list, key, item);
    if (value == nullptr) {
      return Fail(Code::kInvalidArgument,
                  "associative list with keys has an element that omits key field \"" + key +
                      "\" (and doesn't have default value)");
    }
    keys[key] = *value;
  }
  return "k:" + DumpJson(keys);
}

bool IsUntracked(std::string_view root_field) {
  return root_field == "apiVersion" || root_field == "kind";
}

bool IsUntrackedMetadata(std::string_view field) {
  static constexpr std::array<std::string_view, 11> kNames = {"clusterName",
                                                              "creationTimestamp",
                                                              "deletionGracePeriodSeconds",
                                                              "deletionTimestamp",
                                                              "generation",
                                                              "managedFields",
                                                              "name",
                                                              "namespace",
                                                              "resourceVersion",
                                                              "selfLink",
                                                              "uid"};
  return std::find(kNames.begin(), kNames.end(), field) != kNames.end();
}

Result<FieldSet> FieldsOf(const Schema& schema, const Json& config) {
  FieldSet set;
  std::string path;
  for (const auto& [name, value] : config.items()) {
    if (IsUntracked(name)) continue;
    FieldType type = TypeOfField(&schema, name);
    path = '.';
    path += CutUtf8(name, schema::kShownKey);
    if (name != "metadata" || !value.is_object()) {
      TRY_ASSIGN(FieldSet below, FieldsOfValue(type, value, path));
      set.Attach(FieldElement(name), std::move(below));
      continue;
    }
    Json tracked = Json::object();
    for (const auto& [field, inner] : value.items()) {
      if (!IsUntrackedMetadata(field)) tracked[field] = inner;
    }
    TRY_ASSIGN(FieldSet below, FieldsOfMap(type.schema, tracked, path));
    set.Attach(FieldElement(name), std::move(below));
  }
  return set;
}

Json Merge(const Schema* schema, Json live, const Json& config) {
  const Shape shape = ShapeOf(schema, config);
  if (shape == Shape::kLeaf || ShapeOf(schema, live) != shape) return config;
  if (shape != Shape::kFields) return MergeLists(*schema, shape, std::move(live), config);
  for (const auto& [name, value] : config.items()) {
    const auto found = live.find(name);
    if (found == live.end()) {
      live[name] = value;
    } else {
      *found = Merge(TypeOfField(schema, name).schema, std::move(*found), value);
    }
  }
  return live;
}

void RemoveFields(const Schema* schema, const FieldSet& gone, const FieldSet* kept, Json& object) {
  const Shape shape = ShapeOf(schema, object);
  if (shape != Shape::kFields) {
    if (shape != Shape::kLeaf && schema != nullptr) RemoveItems(*schema, shape, gone, kept, object);
    return;
  }
  for (const FieldSet::Child& child : gone.Children()) {
    if (!child.element.starts_with("f:")) continue;
    const std::string name = child.element.substr(2);
    const auto found = object.find(name);
    if (found == object.end()) continue;
    if (!child.below.IsMember()) {
      const FieldSet* kept_below = kept == nullptr ? nullptr : kept->Find(child.element);
      const bool was_empty = found->empty();
      RemoveFields(TypeOfField(schema, name).schema, child.below, kept_below, *found);
      const bool is_kept = kept_below != nullptr && kept_below->IsMember();
      if (was_empty || is_kept || !found->empty()) continue;
    }
    object.erase(name);
  }
}

FieldSet WithParents(const Schema* schema, const FieldSet& set) {
  FieldSet result;
  if (set.IsMember()) result.AddSelf();
  for (const FieldSet::Child& child : set.Children()) {
    const bool is_field = child.element.starts_with("f:");
    const FieldType type = is_field ? TypeOfField(schema, std::string_view(child.element).substr(2))
                                    : FieldType{.schema = ItemsOf(schema)};
    FieldSet below = WithParents(type.schema, child.below);
    if (is_field && type.is_named) below.AddSelf();
    result.Attach(child.element, std::move(below));
  }
  return result;
}

}  // namespace strata::patch
