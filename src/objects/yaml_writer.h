#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace strata::objects {

// `json` as one YAML document in block style, keys in their order, that kubectl and ParseObjects
// read back as the same value: whatever a YAML 1.1 reader may take for anything else is quoted.
[[nodiscard]] std::string WriteYaml(const nlohmann::ordered_json& json);

}  // namespace strata::objects
