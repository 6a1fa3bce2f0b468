#pragma once

#include <span>

#include <nlohmann/json.hpp>

#include "apiserver/request/call.h"

namespace strata::apiserver {

// A meta.k8s.io Table with one row per object, as the call's ?includeObject asks. Objects have
// apiVersion and kind or not.
[[nodiscard]] nlohmann::json TableOf(const Call& call, std::span<const nlohmann::json> objects);
// One row alone.
[[nodiscard]] nlohmann::json TableRow(const Call& call, const nlohmann::json& object);
// A Table without rows; with or without its column definitions (the first event of a watch has
// them).
enum class Columns : bool { kNone, kDefined };
[[nodiscard]] nlohmann::json EmptyTable(const Call& call, Columns columns);

// PartialObjectMetadata: the metadata alone.
[[nodiscard]] nlohmann::json PartialOf(const Call& call, const nlohmann::json& object);

}  // namespace strata::apiserver
