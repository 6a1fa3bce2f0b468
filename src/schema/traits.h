#pragma once

#include "schema/schema.h"

namespace strata::schema {

// Sets may_normalize and may_have_rules of a finished schema from those of its parts.
void SetTraits(Schema& schema);

}  // namespace strata::schema
