#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "apiserver/resources/resource.h"

namespace strata::apiserver {

// The rows of the table that a CustomResourceDefinition makes: one per version that it serves. None
// when a part of it is invalid.
[[nodiscard]] std::vector<Resource> DefinitionRows(const nlohmann::json& definition);

}  // namespace strata::apiserver
