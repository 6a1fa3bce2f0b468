#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace strata::apiserver {

// JSON of any kind, or why it is none. Refuses what is nested deeper than anybody needs, so that
// whoever walks the value may recurse. Of a key that is there twice the last value counts.
[[nodiscard]] Result<nlohmann::json> ParseJson(std::string_view text);

}  // namespace strata::apiserver
