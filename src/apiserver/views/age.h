#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/clock.h"

namespace strata::apiserver {

// "45s", "5m30s", "3h", "12d": as kubectl shows how long something is ago. "<invalid>" when it is
// more than a second in the future.
[[nodiscard]] std::string HumanDuration(Duration passed);

// How long the timestamp in `value` is ago; "<unknown>" when it is no timestamp.
[[nodiscard]] std::string AgeOf(const nlohmann::json* value, Time now);

}  // namespace strata::apiserver
