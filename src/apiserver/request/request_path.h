#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::apiserver {

// `text` with %XX decoded (and, in a query, '+' as a blank); none when an escape is broken or what
// comes out is not UTF-8 or has a NUL byte.
enum class Decode : unsigned char { kPath, kQuery };
[[nodiscard]] std::optional<std::string> PercentDecode(std::string_view text, Decode what);

// The decoded segments of a path; one '/' at the end is ignored. None for anything else than a
// plain path: broken escapes, empty segments, "." and "..", a '/' or '%' that was hidden in an
// escape.
[[nodiscard]] std::optional<std::vector<std::string>> PathSegments(std::string_view path);

// /api/v1/namespaces/<ns>/<plural>/<name>/<subresource> and its shorter forms.
struct ResourcePath {
  std::string group;
  std::string version;
  std::string ns;           // "" when the path names none
  std::string plural;       // "" for the group version itself
  std::string name;         // "" for a collection
  std::string subresource;  // "" for none

  bool operator==(const ResourcePath&) const = default;
};

// None when the segments are not a path below /api/<version> or /apis/<group>/<version>, or go on
// too long.
[[nodiscard]] std::optional<ResourcePath> ToResourcePath(const std::vector<std::string>& segments);

}  // namespace strata::apiserver
