#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace re2 {
class RE2;
}

namespace strata::cel {
class Expression;
}

namespace strata::schema {

enum class Type : std::uint8_t {
  kAny,     // nothing is known: kept as it is
  kObject,  // named fields
  kMap,     // any key, values of `items`
  kArray,   // `items`
  kString,
  kInteger,  // int32 or int64, see `format`
  kNumber,
  kBoolean,
  kQuantity,  // built-in kinds: normalized ("1000m" -> "1"); in custom kinds int-or-string with a
              // pattern
  kIntOrString,
  kTime,       // RFC 3339, whole seconds, Z
  kMicroTime,  // with a fraction
  kBytes,      // base64
};

// What a list is for server-side apply (x-kubernetes-list-type).
enum class ListType : std::uint8_t { kAtomic, kSet, kMap };
// What a list or object is for strategic merge patch (x-kubernetes-patch-strategy).
enum class PatchStrategy : std::uint8_t { kReplace, kMerge, kRetainKeys, kMergeRetainKeys };

struct Schema;

struct Field {
  std::string name;
  std::shared_ptr<const Schema> schema;
  bool required = false;
  std::string description;  // of the field; "" where that of its schema says enough
};

// One of x-kubernetes-validations.
struct Rule {
  std::string rule;     // CEL
  std::string message;  // "": a sentence that quotes the rule
  std::string reason;   // "": FieldValueInvalid
  std::string field_path;
  std::shared_ptr<const cel::Expression> expression;  // null when `unsupported` says why
  std::string unsupported;
};

// Combinations of schemas that a custom kind may ask for besides its own.
struct Alternatives {
  std::vector<std::shared_ptr<const Schema>> all_of;
  std::vector<std::shared_ptr<const Schema>> any_of;
  std::vector<std::shared_ptr<const Schema>> one_of;
  std::shared_ptr<const Schema> none_of;  // `not`
};

// The type of one place in an object: a tree, immutable once made, shared where a type is used in
// many places (and never cyclic: a recursive type ends in kAny).
struct Schema {
  Type type = Type::kAny;
  std::string description;
  std::string format;     // "int32", "int64", "date-time", "byte", ...
  std::string type_name;  // "io.k8s.api.core.v1.PodSpec" for a named type, for OpenAPI and messages
  std::string go_name;    // "PodSpec": what a decoding error calls it; "v1.RestartPolicy" for other
                          // types than structs
  std::vector<Field> fields;            // sorted by name; kObject
  std::shared_ptr<const Schema> items;  // kArray, kMap
  std::optional<nlohmann::json> default_value;
  std::vector<nlohmann::json> enum_values;
  std::optional<double> minimum;
  std::optional<double> maximum;
  std::optional<double> multiple_of;
  std::optional<std::int64_t> min_length;
  std::optional<std::int64_t> max_length;
  std::optional<std::int64_t> min_items;
  std::optional<std::int64_t> max_items;
  std::optional<std::int64_t> min_properties;
  std::optional<std::int64_t> max_properties;
  std::string pattern;                               // RE2; "" for none
  std::shared_ptr<const re2::RE2> compiled_pattern;  // of `pattern`; may be absent
  bool nullable = false;
  bool preserve_unknown = false;   // x-kubernetes-preserve-unknown-fields
  bool atomic = false;             // an object or map that one manager owns whole
  bool as_sent = false;            // a built-in type inside a custom kind: its defaults are not put
                                   // in, and values stay as they were written
  bool default_if_empty = false;   // "" and 0 get the default, too
  bool exclusive_minimum = false;  // `minimum` itself is too small
  bool exclusive_maximum = false;
  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_map_keys;
  PatchStrategy patch_strategy = PatchStrategy::kReplace;
  std::string patch_merge_key;
  std::vector<Rule> rules;
  std::shared_ptr<const Alternatives> alternatives;  // null for none

  // Whether something here or below is written in one way only (Normalize). False where SetTraits
  // saw that nothing is.
  bool may_normalize = true;
  // Whether there are rules here or below; the same.
  bool may_have_rules = true;

  // nullptr when there is none of that name.
  [[nodiscard]] const Field* Find(std::string_view name) const;
};

using SchemaRef = std::shared_ptr<const Schema>;

}  // namespace strata::schema
