#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "schema/path.h"
#include "schema/schema.h"

namespace strata::schema {

// One thing wrong with an object, as a Status lists it in details.causes.
struct Problem {
  std::string field;    // "spec.containers[0].name"
  std::string reason;   // FieldValueRequired, FieldValueInvalid, FieldValueNotSupported,
                        // FieldValueTypeInvalid, ...
  std::string message;  // "Required value", "Invalid value: \"x\": must be ..."
};

// The first value whose type is not the schema's, in the words of a Go decoder ("json: cannot
// unmarshal number into Go struct field ConfigMap.data of type string"): the 400 of a built-in kind
// Ok when there is none.
[[nodiscard]] Status CheckDecodes(const Schema& schema, const nlohmann::json& object);

// Everything the schema forbids: types, required fields, enums, ranges, patterns, duplicate list
// keys, rules (CEL). In the order of the fields; the causes of a 422 for a custom kind. At most a
// hundred problems, and one that counts the others. `before` is the state that is replaced, null
// when there is none: rules about it (oldSelf) are then left out.
//
// Meant for custom kinds: what the schema of a built-in kind calls required is what clients must
// send, and a server takes more than that (its zero values).
[[nodiscard]] std::vector<Problem> Validate(const Schema& schema,
                                            const nlohmann::json& object,
                                            const nlohmann::json* before = nullptr);

struct UnknownPaths {
  std::vector<std::string> first;  // at most a hundred
  std::size_t more = 0;            // how many there are beside these

  void Add(const Path& path);
};
// The paths of fields the schema does not know, depth first, in Kubernetes' order.
[[nodiscard]] UnknownPaths UnknownFields(const Schema& schema, const nlohmann::json& object);

// Fills in defaults inside objects that are there; an explicit null of a field with a default gets
// it too, and any other null of a field that must not be null is removed.
void ApplyDefaults(const Schema& schema, nlohmann::json& object);

// Takes out every field that is null; in a list, null is an item.
void DropNulls(nlohmann::json& value);

// Writes quantities and times as Kubernetes does; leaves what does not parse alone.
void Normalize(const Schema& schema, nlohmann::json& object);

}  // namespace strata::schema
