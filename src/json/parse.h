#pragma once

#include <cstddef>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

// Texts as JSON values. The last of duplicate keys counts. An integer beyond 64 bits becomes
// a double. Thread-safe; each thread keeps a parser with at most 4 MiB.
namespace strata {

inline constexpr std::size_t kMaxJsonDepth = 200;

// kInvalidArgument when `text` is not JSON (with line and column), or when values are nested more
// than `max_depth` levels below the root: code that walks the result may recurse.
[[nodiscard]] Result<nlohmann::json> ParseJson(std::string_view text,
                                               std::size_t max_depth = kMaxJsonDepth);

// null when `text` is not JSON. Any depth: for texts that a program wrote, such as stored objects,
// to which patches and managedFields add levels.
[[nodiscard]] nlohmann::json ParseJsonOrNull(std::string_view text);
// Keeps the order of members; slower.
[[nodiscard]] nlohmann::ordered_json ParseOrderedJsonOrNull(std::string_view text);

}  // namespace strata
