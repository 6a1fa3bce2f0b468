#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace strata::objects {

// What an unquoted YAML scalar means to kubectl (YAML 1.1 as go-yaml reads it).
struct YamlScalar {
  enum class Type { kNull, kBool, kInteger, kNumber, kString } type = Type::kString;
  std::string json;  // the JSON text of all types but kString, which is the scalar itself
};

// yes, no, on, off, y, n (as in "Yes", "YES") are booleans; 017 and 0o17 are fifteen, 0x1f, 0b11
// and 1_000 are integers; .inf and .nan, which JSON cannot hold, stay strings.
[[nodiscard]] YamlScalar ResolvePlainScalar(std::string_view text);

// The same for a scalar with an explicit tag such as !!int; none when the tag does not fit the text
// or is not one of str, int, float, bool, null, timestamp, binary.
[[nodiscard]] std::optional<YamlScalar> ResolveTaggedScalar(std::string_view tag,
                                                            std::string_view text);

}  // namespace strata::objects
