#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/age.h"
#include "base/clock.h"

namespace strata::apiserver {

// How long the timestamp in `value` is ago; "<unknown>" when it is not a timestamp.
[[nodiscard]] std::string AgeOf(const nlohmann::json* value, Time now);

}  // namespace strata::apiserver
