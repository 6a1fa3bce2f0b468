#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "schema/schema.h"

// x-kubernetes-validations without an interpreter of CEL: the rules of our own kinds, by their
// text.
namespace strata::schema {

// Whether `self` fulfils a rule; nullptr for a rule that nobody here knows.
using RuleCheck = bool (*)(const nlohmann::json& self);
[[nodiscard]] RuleCheck FindRule(std::string_view rule);

}  // namespace strata::schema
