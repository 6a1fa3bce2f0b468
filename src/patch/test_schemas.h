#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "schema/schema.h"

// Small schemas for tests of this folder.
namespace strata::patch::testing {

using schema::Field;
using schema::ListType;
using schema::PatchStrategy;
using schema::Schema;
using schema::SchemaRef;
using schema::Type;

inline SchemaRef Scalar(Type type = Type::kString) {
  Schema schema;
  schema.type = type;
  return std::make_shared<Schema>(schema);
}

inline SchemaRef Object(std::vector<Field> fields, std::string type_name = "") {
  Schema schema;
  schema.type = Type::kObject;
  std::sort(
      fields.begin(), fields.end(), [](const Field& a, const Field& b) { return a.name < b.name; });
  schema.fields = std::move(fields);
  schema.type_name = std::move(type_name);
  return std::make_shared<Schema>(schema);
}

inline SchemaRef AtomicObject(std::vector<Field> fields) {
  Schema schema = *Object(std::move(fields));
  schema.atomic = true;
  return std::make_shared<Schema>(schema);
}

inline SchemaRef MapOf(SchemaRef items) {
  Schema schema;
  schema.type = Type::kMap;
  schema.items = std::move(items);
  return std::make_shared<Schema>(schema);
}

inline SchemaRef AtomicList(SchemaRef items) {
  Schema schema;
  schema.type = Type::kArray;
  schema.items = std::move(items);
  return std::make_shared<Schema>(schema);
}

inline SchemaRef SetList() {
  Schema schema = *AtomicList(Scalar());
  schema.list_type = ListType::kSet;
  schema.patch_strategy = PatchStrategy::kMerge;
  return std::make_shared<Schema>(schema);
}

// Merged by the first key in a strategic merge patch.
inline SchemaRef KeyedList(std::vector<std::string> keys, SchemaRef items) {
  Schema schema = *AtomicList(std::move(items));
  schema.list_type = ListType::kMap;
  schema.patch_strategy = PatchStrategy::kMerge;
  schema.patch_merge_key = keys.front();
  schema.list_map_keys = std::move(keys);
  return std::make_shared<Schema>(schema);
}

inline SchemaRef Metadata() {
  return Object({{"annotations", MapOf(Scalar())},
                 {"finalizers", SetList()},
                 {"labels", MapOf(Scalar())},
                 {"name", Scalar()},
                 {"namespace", Scalar()},
                 {"ownerReferences",
                  KeyedList({"uid"}, AtomicObject({{"name", Scalar()}, {"uid", Scalar()}}))},
                 {"resourceVersion", Scalar()},
                 {"uid", Scalar()}});
}

inline SchemaRef Protocol() {
  Schema schema = *Scalar();
  schema.default_value = "TCP";
  return std::make_shared<Schema>(schema);
}

inline SchemaRef Container() {
  return Object({{"args", AtomicList(Scalar())},
                 {"env", KeyedList({"name"}, Object({{"name", Scalar()}, {"value", Scalar()}}))},
                 {"image", Scalar()},
                 {"name", Scalar()},
                 {"ports",
                  KeyedList({"containerPort", "protocol"},
                            Object({{"containerPort", Scalar(Type::kInteger)},
                                    {"hostPort", Scalar(Type::kInteger)},
                                    {"protocol", Protocol()}}))},
                 {"resources", Object({{"limits", MapOf(Scalar(Type::kQuantity))}})}});
}

inline SchemaRef Pod() {
  return Object({{"apiVersion", Scalar()},
                 {"kind", Scalar()},
                 {"metadata", Metadata()},
                 {"spec",
                  Object({{"containers", KeyedList({"name"}, Container()), true},
                          {"nodeName", Scalar()},
                          {"nodeSelector",
                           [] {
                             Schema schema = *MapOf(Scalar());
                             schema.atomic = true;
                             return std::make_shared<Schema>(schema);
                           }()},
                          {"securityContext", Object({{"runAsUser", Scalar(Type::kInteger)}})},
                          {"strategy", Object({{"type", Scalar()}, {"limits", Object({})}})},
                          {"tolerations", AtomicList(Object({{"key", Scalar()}}))}})},
                 {"status", Object({{"phase", Scalar()}})}},
                "io.k8s.api.core.v1.Pod");
}

inline SchemaRef ConfigMap() {
  return Object({{"apiVersion", Scalar()},
                 {"data", MapOf(Scalar())},
                 {"kind", Scalar()},
                 {"metadata", Metadata()}},
                "io.k8s.api.core.v1.ConfigMap");
}

}  // namespace strata::patch::testing
