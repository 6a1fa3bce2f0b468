#pragma once

#include <nlohmann/json_fwd.hpp>

#include "objects/pod_group.h"

namespace strata::objects {

// The object as it is created: without what the API server adds, in the phase it has.
[[nodiscard]] nlohmann::ordered_json WritePodGroup(const PodGroup& group);

}  // namespace strata::objects
