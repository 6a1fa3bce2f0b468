#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "cel/syntax.h"

namespace strata::cel {

// The value of `root` as a bool, at a cost of at most `max_cost`; what it cost is added to `cost`.
// `slots` are self and oldSelf. Errors as in Expression::Evaluate.
[[nodiscard]] Result<bool> EvaluateBool(const Node& root,
                                        std::vector<const nlohmann::json*> slots,
                                        std::int64_t max_cost,
                                        std::int64_t& cost);

}  // namespace strata::cel
