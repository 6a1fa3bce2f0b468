#pragma once

#include <cstddef>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace strata::patch {

// What a patch may cost: as much as a Kubernetes API server allows, and nesting that is safe
// for recursion.
inline constexpr std::size_t kMaxDepth = 500;
inline constexpr std::size_t kMaxJsonPatchOperations = 10'000;
inline constexpr std::size_t kMaxCopiedBytes = 3UL * 1024 * 1024;
// Items of lists that move to make room for a new one or to close a gap: an operation costs
// as much as the list is long.
inline constexpr std::size_t kMaxMovedItems = 10'000'000;
// Entries of metadata.managedFields; a few dozen are many.
inline constexpr std::size_t kMaxManagers = 1000;

// kInvalidArgument when `value` is nested deeper than kMaxDepth.
[[nodiscard]] Status CheckDepth(const nlohmann::json& value);

// About how many bytes `value` takes as text.
// REQUIRES: it is not nested too deeply for recursion.
[[nodiscard]] std::size_t TextSize(const nlohmann::json& value);

}  // namespace strata::patch
