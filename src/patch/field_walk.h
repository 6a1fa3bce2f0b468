#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "patch/field_set.h"
#include "schema/schema.h"

// Walks over objects along their schema, as ownership of fields sees them. Where the schema ends,
// maps are granular and lists are one value.
namespace strata::patch {

// How a value is owned.
enum class Shape : std::uint8_t {
  kLeaf,     // whole: a scalar, an atomic list or object
  kFields,   // an object or map, field by field
  kListMap,  // a list whose items have keys
  kListSet,  // a list of distinct scalars
};

// The shape of `value` in a place of type `schema` (nullptr: unknown).
[[nodiscard]] Shape ShapeOf(const schema::Schema* schema, const nlohmann::json& value);

// The path element of a field: "f:" and its name.
[[nodiscard]] std::string FieldElement(std::string_view name);

// The type of a field. `is_named` when it is a field of the schema and no key of a map.
struct FieldType {
  const schema::Schema* schema = nullptr;
  bool is_named = false;
};
[[nodiscard]] FieldType TypeOfField(const schema::Schema* schema, std::string_view name);

// The path element of an item: k:... or v:...; kInvalidArgument when a key is missing that has no
// default.
[[nodiscard]] Result<std::string> ElementOf(const schema::Schema& list,
                                            Shape shape,
                                            const nlohmann::json& item);

// True for fields that have no owner: apiVersion, kind, and of metadata what the server sets.
[[nodiscard]] bool IsUntracked(std::string_view root_field);
[[nodiscard]] bool IsUntrackedMetadata(std::string_view field);

// What a configuration mentions; an empty list or object is a value of its own. kInvalidArgument,
// with the place, when a list has an item without its key, or two with the same.
[[nodiscard]] Result<FieldSet> FieldsOf(const schema::Schema& schema, const nlohmann::json& config);

struct Comparison {
  FieldSet changed;  // places that are new or have another value
  FieldSet removed;  // places that are gone, with all that was in them
};
// From `before` (nullptr: nothing, the object is new) to `after`. Lists whose items cannot be told
// apart by their keys count as one value.
[[nodiscard]] Comparison Compare(const schema::Schema& schema,
                                 const nlohmann::json* before,
                                 const nlohmann::json& after);

// `live` with what `config` says on top. Items of lists keep the order of `live`; new ones are put
// where `config` has them. Time linear in `config` and in the lists and maps of `live` that it
// touches: what stays is moved.
// REQUIRES: FieldsOf(schema, config) succeeds.
[[nodiscard]] nlohmann::json Merge(const schema::Schema* schema,
                                   nlohmann::json live,
                                   const nlohmann::json& config);

// Takes the places of `gone` out of `object`, and what becomes empty by that unless it is in `kept`
// (nullptr: nothing is).
void RemoveFields(const schema::Schema* schema,
                  const FieldSet& gone,
                  const FieldSet* kept,
                  nlohmann::json& object);

// `set` and the parents of its fields: the owner of .spec.a owns .spec, too.
[[nodiscard]] FieldSet WithParents(const schema::Schema* schema, const FieldSet& set);

}  // namespace strata::patch
