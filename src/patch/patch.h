#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "schema/schema.h"

namespace strata::patch {

// RFC 6902. kInvalidArgument when `patch` is not a list of operations (400),
// kConflict when one of them fails on this object (the 422).
[[nodiscard]] Result<nlohmann::json> JsonPatch(const nlohmann::json& object,
                                               const nlohmann::json& patch);

// RFC 7386.
[[nodiscard]] Result<nlohmann::json> MergePatch(const nlohmann::json& object,
                                                const nlohmann::json& patch);

// Kubernetes' strategic merge patch: lists merged by the keys of `schema`, with the directives
// $patch, $setElementOrder/..., $deleteFromPrimitiveList/..., $retainKeys.
[[nodiscard]] Result<nlohmann::json> StrategicMergePatch(const schema::Schema& schema,
                                                         const nlohmann::json& object,
                                                         const nlohmann::json& patch);

}  // namespace strata::patch
