#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>

#include "patch/field_set.h"
#include "patch/field_walk.h"
#include "patch/managed_fields.h"
#include "patch/patch.h"
#include "patch/test_schemas.h"
#include "tests/support/property.h"

namespace strata::patch {
namespace {

using nlohmann::json;
using schema::Schema;
using strata::testing::Below;
using strata::testing::CheckProperty;

std::string Pick(const std::vector<std::string>& words) {
  return words[static_cast<std::size_t>(*Below(static_cast<int>(words.size())))];
}

// Any JSON, with the words that mean something to patches more often than others.
json AnyJson(int levels) {
  static const std::vector<std::string> keys = {"metadata",
                                                "labels",
                                                "finalizers",
                                                "managedFields",
                                                "spec",
                                                "containers",
                                                "name",
                                                "env",
                                                "ports",
                                                "containerPort",
                                                "$patch",
                                                "$retainKeys",
                                                "$setElementOrder/containers",
                                                "$deleteFromPrimitiveList/finalizers",
                                                "op",
                                                "path",
                                                "from",
                                                "value",
                                                "f:spec",
                                                ".",
                                                "k:{\"name\":\"a\"}",
                                                "v:1",
                                                "i:0",
                                                "fieldsV1",
                                                "operation",
                                                "manager",
                                                "data",
                                                "x"};
  static const std::vector<std::string> texts = {"a",
                                                 "b",
                                                 "",
                                                 "delete",
                                                 "replace",
                                                 "merge",
                                                 "add",
                                                 "copy",
                                                 "/spec",
                                                 "/a/0",
                                                 "Apply",
                                                 "Update",
                                                 "v1",
                                                 "FieldsV1",
                                                 "\xff"};
  switch (*Below(levels > 0 ? 7 : 4)) {
    case 0:
      return nullptr;
    case 1:
      return *rc::gen::arbitrary<int>();
    case 2:
    case 3:
      return Pick(texts);
    case 4: {
      json list = json::array();
      for (int i = *Below(4); i > 0; --i) list.push_back(AnyJson(levels - 1));
      return list;
    }
    default: {
      json object = json::object();
      for (int i = *Below(5); i > 0; --i) object[Pick(keys)] = AnyJson(levels - 1);
      return object;
    }
  }
}

json AnyMap() {
  json map = json::object();
  for (int i = *Below(4); i > 0; --i) map[Pick({"a", "b", "c", "d"})] = Pick({"1", "2"});
  return map;
}

// Some of `words`, each once, in any order.
std::vector<std::string> AnyOf(std::vector<std::string> words) {
  std::vector<std::string> chosen;
  for (int left = *Below(static_cast<int>(words.size()) + 1); left > 0; --left) {
    const auto at = words.begin() + *Below(static_cast<int>(words.size()));
    chosen.push_back(*at);
    words.erase(at);
  }
  return chosen;
}

json AnyContainer(const std::string& name) {
  json container = {{"name", name}};
  if (*Below(2) == 0) container["image"] = Pick({"x", "y"});
  if (*Below(3) == 0) container["args"] = AnyOf({"p", "q"});
  for (const std::string& variable : AnyOf({"e", "f", "g"})) {
    container["env"].push_back({{"name", variable}, {"value", Pick({"1", "2"})}});
  }
  if (*Below(2) == 0) container["resources"] = {{"limits", AnyMap()}};
  return container;
}

json AnyPod() {
  json pod = {{"metadata", {{"name", "p"}}}, {"spec", json::object()}};
  if (*Below(3) != 0) pod["metadata"]["labels"] = AnyMap();
  if (*Below(2) == 0) pod["metadata"]["finalizers"] = AnyOf({"f", "g", "h"});
  std::vector<std::string> names = AnyOf({"a", "b", "c", "d"});
  if (names.empty()) names.emplace_back("e");
  for (const std::string& name : names) {
    pod["spec"]["containers"].push_back(AnyContainer(name));
  }
  if (*Below(3) == 0) pod["spec"]["nodeSelector"] = AnyMap();
  if (*Below(3) == 0) pod["spec"]["tolerations"] = json::array({{{"key", Pick({"k", "l"})}}});
  if (*Below(3) == 0) pod["spec"]["gizmo"] = {{"list", AnyOf({"u", "v"})}, {"map", AnyMap()}};
  return pod;
}

json Diff(const Schema* schema, const json& before, const json& after);

// The patch of one list, into `patch`.
void DiffList(const Schema& schema,
              const std::string& field,
              const json& before,
              const json& after,
              json& patch) {
  const std::string& key = schema.patch_merge_key;
  json changes = json::array();
  json order = json::array();
  const auto find = [&key](const json& list, const json& item) {
    return std::find_if(list.begin(), list.end(), [&](const json& one) {
      return key.empty() ? one == item : one[key] == item[key];
    });
  };
  for (const json& item : after) {
    const auto old = find(before, item);
    order.push_back(key.empty() ? item : json{{key, item[key]}});
    if (old == before.end()) {
      changes.push_back(item);
    } else if (!key.empty() && *old != item) {
      changes.push_back(Diff(schema.items.get(), *old, item));
      changes.back()[key] = item[key];
    }
  }
  for (const json& item : before) {
    if (find(after, item) != after.end()) continue;
    if (key.empty()) {
      patch["$deleteFromPrimitiveList/" + field].push_back(item);
    } else {
      changes.push_back({{"$patch", "delete"}, {key, item[key]}});
    }
  }
  patch["$setElementOrder/" + field] = order;
  if (!changes.empty()) patch[field] = changes;
}

// The strategic merge patch that a client would send to make `after` of `before`.
json Diff(const Schema* schema, const json& before, const json& after) {
  json patch = json::object();
  for (const auto& [name, value] : before.items()) {
    if (!after.contains(name)) patch[name] = nullptr;
  }
  for (const auto& [name, value] : after.items()) {
    const auto old = before.find(name);
    const Schema* type = TypeOfField(schema, name).schema;
    if (old != before.end() && *old == value) continue;
    if (old != before.end() && old->is_object() && value.is_object()) {
      patch[name] = Diff(type, *old, value);
    } else if (old != before.end() && old->is_array() && value.is_array() && type != nullptr &&
               type->patch_strategy == schema::PatchStrategy::kMerge) {
      DiffList(*type, name, *old, value, patch);
    } else {
      patch[name] = value;
    }
  }
  return patch;
}

json ApplyOf(const std::optional<json>& live, const json& config, const char* manager) {
  const Result<Applied> applied =
      ServerSideApply(*testing::Pod(),
                      live,
                      config,
                      {.manager = manager, .api_version = "v1", .now = Time()},
                      OnConflict::kReport);
  RC_ASSERT(applied);
  RC_ASSERT(applied->conflicts.empty());
  return applied->object;
}

TEST(JsonPatchProperty, TheDifferenceOfTwoValuesMakesOneOfTheOther) {
  CheckProperty(200, [] {
    const json before = AnyJson(4);
    const json after = AnyJson(4);
    RC_ASSERT(JsonPatch(before, json::diff(before, after)).value() == after);
  });
}

TEST(StrategicMergePatchProperty, TheDifferenceOfTwoPodsMakesOneOfTheOther) {
  CheckProperty(300, [] {
    const json before = AnyPod();
    const json after = AnyPod();
    const json patch = Diff(testing::Pod().get(), before, after);
    const Result<json> patched = StrategicMergePatch(*testing::Pod(), before, patch);
    RC_LOG() << before << "\n" << patch << "\n";
    RC_ASSERT(patched);
    RC_ASSERT(*patched == after);
  });
}

TEST(ServerSideApplyProperty, TheSameConfigurationAgainChangesNothing) {
  CheckProperty(200, [] {
    const json config = AnyPod();
    json live = ApplyOf(std::nullopt, config, "one");
    RC_ASSERT(ApplyOf(live, config, "one") == live);
    live["spec"]["nodeName"] = "n";
    const json next = AnyPod();
    const json applied = ApplyOf(live, next, "one");
    RC_ASSERT(ApplyOf(applied, next, "one") == applied);
  });
}

TEST(ServerSideApplyProperty, AnObjectIsWhatItsOnlyManagerSays) {
  CheckProperty(200, [] {
    const json first = AnyPod();
    json second = AnyPod();
    json live = ApplyOf(ApplyOf(std::nullopt, first, "one"), second, "one");
    live["metadata"].erase("managedFields");
    const json fields = FieldsOf(*testing::Pod(), second).value().ToJson();
    RC_LOG() << live << "\n" << second << "\n";
    RC_ASSERT(FieldsOf(*testing::Pod(), live).value().ToJson() == fields);
  });
}

// Two managers with labels and containers of their own.
json Renamed(const json& pod, const std::string& suffix) {
  json own = {{"metadata", {{"name", "p"}, {"labels", json::object()}}}};
  const json labels = pod["metadata"].value("labels", json::object());
  for (const auto& [key, value] : labels.items()) {
    own["metadata"]["labels"][key + suffix] = value;
  }
  for (json container : pod["spec"].value("containers", json::array())) {
    container["name"] = container["name"].get<std::string>() + suffix;
    own["spec"]["containers"].push_back(container);
  }
  return own;
}

TEST(ServerSideApplyProperty, DisjointManagersNeverMeetAndTakeAwayOnlyTheirOwn) {
  CheckProperty(200, [] {
    const json mine = Renamed(AnyPod(), "-1");
    const json theirs = Renamed(AnyPod(), "-2");
    const json alone = ApplyOf(std::nullopt, mine, "one");
    const json both = ApplyOf(alone, theirs, "two");
    json left = ApplyOf(both, json{{"metadata", {{"name", "p"}}}}, "two");
    if (!alone["metadata"].contains("managedFields")) return;
    RC_LOG() << both << "\n";
    RC_ASSERT(left["metadata"].value("labels", json::object()) ==
              alone["metadata"].value("labels", json::object()));
    RC_ASSERT(left.value("spec", json::object()) == alone.value("spec", json::object()));
  });
}

TEST(RecordUpdateProperty, WhatAWriterChangesIsItsOwnAndNothingGoneHasAnOwner) {
  CheckProperty(200, [] {
    json before = AnyPod();
    RecordUpdate(*testing::Pod(), nullptr, before, {.manager = "one", .api_version = "v1"});
    json after = AnyPod();
    RecordUpdate(*testing::Pod(), &before, after, {.manager = "two", .api_version = "v1"});
    const FieldSet all = Compare(*testing::Pod(), nullptr, after).changed;
    FieldSet owned;
    for (const json& entry : after["metadata"].value("managedFields", json::array())) {
      const FieldSet fields = FieldSet::FromJson(entry["fieldsV1"]).value();
      RC_ASSERT(owned.Intersection(fields).IsEmpty());
      owned.Add(fields);
    }
    RC_LOG() << after << "\n" << owned.ToJson() << "\n" << all.ToJson() << "\n";
    RC_ASSERT(owned.Difference(all).IsEmpty());
    RC_ASSERT(all.Difference(owned).IsEmpty());
  });
}

TEST(FieldSetProperty, WhatIsWrittenReadsTheSame) {
  CheckProperty(200, [] {
    const FieldSet set = FieldsOf(*testing::Pod(), AnyPod()).value();
    RC_ASSERT(FieldSet::FromJson(set.ToJson()).value() == set);
    const FieldSet other = FieldsOf(*testing::Pod(), AnyPod()).value();
    const auto both = [](FieldSet a, const FieldSet& b) {
      a.Add(b);
      return a;
    };
    RC_ASSERT(both(set, other) == both(other, set));
    RC_ASSERT(both(set.Difference(other), set.Intersection(other)) == set);
    RC_ASSERT(both(set, set) == set);
    RC_ASSERT(set.Paths(set.Count() + 1).size() == set.Count());
    RC_ASSERT(set.Difference(other).Intersection(other).IsEmpty());
  });
}

TEST(AnyPatchProperty, AcceptsAnyJsonWithoutCrashing) {
  CheckProperty(500, [] {
    const json object = AnyJson(5);
    const json patch = AnyJson(5);
    (void)JsonPatch(object, patch);
    (void)MergePatch(object, patch);
    (void)StrategicMergePatch(*testing::Pod(), object, patch);
    if (const Result<FieldSet> set = FieldSet::FromJson(patch)) {
      RC_ASSERT(FieldSet::FromJson(set->ToJson()).value() == *set);
    }
    if (!object.is_object()) return;
    const Writer writer{.manager = "one", .api_version = "v1"};
    (void)ServerSideApply(*testing::Pod(), object, patch, writer, OnConflict::kReport);
    (void)ServerSideApply(*testing::Pod(), object, patch, writer, OnConflict::kForce);
    if (!patch.is_object()) return;
    json after = patch;
    RecordUpdate(*testing::Pod(), &object, after, writer);
    after = patch;
    RecordUpdate(*testing::Pod(), nullptr, after, writer);
    RC_ASSERT(after.is_object());
  });
}

}  // namespace
}  // namespace strata::patch
