#pragma once

#include <nlohmann/json_fwd.hpp>

#include "objects/value.h"

namespace strata::objects {

// The same value as nlohmann's; of a duplicate key the last member counts. COST: a copy.
[[nodiscard]] nlohmann::json ToJson(const Value& value);

}  // namespace strata::objects
