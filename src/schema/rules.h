#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "schema/path.h"
#include "schema/problems.h"
#include "schema/schema.h"

// The rules of custom kinds (x-kubernetes-validations).
namespace strata::schema {

// Adds a problem for every rule in `schema` that cannot be checked: one outside of the supported
// subset of CEL (cel/expression.h), or one about the previous state of an item of a list whose
// items have no identity. `field` is where the schema is in its definition.
void CheckRulesAreSupported(const Schema& schema, const std::string& field, ProblemList& problems);

// Adds a problem for every rule that `object` breaks, parents first. `before` is the state that is
// replaced, null when there is none: rules about it (oldSelf) are then left out.
void CheckRules(const Schema& schema,
                const nlohmann::json& object,
                const nlohmann::json* before,
                ProblemList& problems);

}  // namespace strata::schema
