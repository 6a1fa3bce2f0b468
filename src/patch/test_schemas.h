#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "schema/schema.h"

// Small schemas for tests of this folder.
namespace strata::patch::testing {

using schema::Field;
using schema::ListType;
using schema::PatchStrategy;
using schema::Schema;
using schema::SchemaRef;
using schema::Type;

inline nlohmann::json Parse(const char* text) {
  return nlohmann::json::parse(text);
}

inline SchemaRef Scalar(Type type = Type::kString) {
  Schema schema;
  schema.type = type;
  return std::make_shared<Schema>(schema);
}

inline Field Named(std::string name, SchemaRef type, bool required = false) {
  Field field;
  field.name = std::move(name);
  field.schema = std::move(type);
  field.required = required;
  return field;
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
  return Object(
      {Named("annotations", MapOf(Scalar())),
       Named("finalizers", SetList()),
       Named("labels", MapOf(Scalar())),
       Named("name", Scalar()),
       Named("namespace", Scalar()),
       Named("ownerReferences",
             KeyedList({"uid"}, AtomicObject({Named("name", Scalar()), Named("uid", Scalar())}))),
       Named("resourceVersion", Scalar()),
       Named("uid", Scalar())});
}

inline SchemaRef Protocol() {
  Schema schema = *Scalar();
  schema.default_value = "TCP";
  return std::make_shared<Schema>(schema);
}

inline SchemaRef Container() {
  return Object(
      {Named("args", AtomicList(Scalar())),
       Named("env",
             KeyedList({"name"}, Object({Named("name", Scalar()), Named("value", Scalar())}))),
       Named("image", Scalar()),
       Named("name", Scalar()),
       Named("ports",
             KeyedList({"containerPort", "protocol"},
                       Object({Named("containerPort", Scalar(Type::kInteger)),
                               Named("hostPort", Scalar(Type::kInteger)),
                               Named("protocol", Protocol())}))),
       Named("resources", Object({Named("limits", MapOf(Scalar(Type::kQuantity)))}))});
}

inline SchemaRef Pod() {
  return Object(
      {Named("apiVersion", Scalar()),
       Named("kind", Scalar()),
       Named("metadata", Metadata()),
       Named("spec",
             Object(
                 {Named("containers", KeyedList({"name"}, Container()), true),
                  Named("nodeName", Scalar()),
                  Named("nodeSelector",
                        [] {
                          Schema schema = *MapOf(Scalar());
                          schema.atomic = true;
                          return std::make_shared<Schema>(schema);
                        }()),
                  Named("securityContext", Object({Named("runAsUser", Scalar(Type::kInteger))})),
                  Named("strategy", Object({Named("type", Scalar()), Named("limits", Object({}))})),
                  Named("tolerations", AtomicList(Object({Named("key", Scalar())})))})),
       Named("status", Object({Named("phase", Scalar())}))},
      "io.k8s.api.core.v1.Pod");
}

inline SchemaRef ConfigMap() {
  return Object({Named("apiVersion", Scalar()),
                 Named("data", MapOf(Scalar())),
                 Named("kind", Scalar()),
                 Named("metadata", Metadata())},
                "io.k8s.api.core.v1.ConfigMap");
}

}  // namespace strata::patch::testing
