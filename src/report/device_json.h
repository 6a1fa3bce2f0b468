#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sched/trace.h"

namespace strata {

// The GPUs of one pod by container, in the form of `simulate --trace` and `explain -o json`.
[[nodiscard]] nlohmann::ordered_json DevicesToJson(const DeviceRecord& devices);

}  // namespace strata
