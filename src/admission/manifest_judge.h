#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "objects/kinds.h"
#include "objects/value.h"
#include "schema/schema.h"

namespace strata::admission {

// What fieldValidation=Strict rejects and Warn reports, one clause each: fields that the schema
// does not know, and values that Strata cannot read of annotations that it reads
// (objects/annotation_values.h), in the object and in the templates in it. What `before` (null:
// nothing) has already is left out, for then this change did not bring it.
[[nodiscard]] std::vector<std::string> StrictFaults(const schema::Schema& schema,
                                                    const nlohmann::json& object,
                                                    const nlohmann::json& before);

// What the API server of this program would reject in a manifest that a client creates with
// fieldValidation=Strict, as far as it is seen in the object alone: StrictFaults, the types of a
// built-in kind, the schema of one of Volcano's kinds. For objects::ParseManifests. Safe from any
// thread.
[[nodiscard]] std::vector<std::string> JudgeManifest(const objects::Kind& kind,
                                                     const objects::Value& object);

}  // namespace strata::admission
