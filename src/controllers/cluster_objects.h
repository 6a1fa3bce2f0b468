#pragma once

#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "objects/hypernode.h"
#include "objects/node.h"
#include "objects/policy.h"
#include "objects/secret.h"

// Objects of the API server as the types that topology and discovery work with.
namespace strata::controllers {

// Name, labels and internal addresses; no more is kept of nodes.
[[nodiscard]] objects::Node NodeFrom(const nlohmann::json& node);
// None for one that cannot be read.
[[nodiscard]] std::optional<objects::HyperNode> HyperNodeFrom(const nlohmann::json& hypernode);
[[nodiscard]] std::optional<objects::Secret> SecretFrom(const nlohmann::json& secret);

[[nodiscard]] std::optional<objects::PodDisruptionBudget> BudgetFrom(const nlohmann::json& budget);

}  // namespace strata::controllers
