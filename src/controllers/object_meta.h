#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace strata::controllers {

// Whether metadata.deletionTimestamp is set.
[[nodiscard]] bool IsBeingDeleted(const nlohmann::json& object);

// The uid of the owner that has controller=true; "" without such an owner.
[[nodiscard]] const std::string& ControllerUidOf(const nlohmann::json& object);

}  // namespace strata::controllers
