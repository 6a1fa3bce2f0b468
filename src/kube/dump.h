#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace strata::kube {

// In one line. Bytes that are no UTF-8 are replaced: names come from outside and may hold anything.
[[nodiscard]] std::string Dump(const nlohmann::json& json);
[[nodiscard]] std::string Dump(const nlohmann::ordered_json& json);

}  // namespace strata::kube
