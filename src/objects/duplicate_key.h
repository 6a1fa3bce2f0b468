#pragma once

#include <optional>
#include <string>

#include "objects/value.h"

namespace strata::objects {

// The path of a duplicate key in one object, as the API server's strict mode rejects it;
// none when there is no such key. metadata.managedFields, most of the bulk of a dump, is not looked
// at.
//
// COST: one pass over the document; a third of what parsing it cost.
[[nodiscard]] std::optional<std::string> FindDuplicateKey(const Value& root);

}  // namespace strata::objects
