#pragma once

#include <string>

#include "base/clock.h"

namespace strata {

// "45s", "5m30s", "3h", "12d": as kubectl shows how long something is ago. "<invalid>" when it is
// more than a second in the future.
[[nodiscard]] std::string HumanDuration(Duration passed);

}  // namespace strata
