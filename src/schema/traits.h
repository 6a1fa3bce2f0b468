#pragma once

#include "schema/schema.h"

namespace strata::schema {

// Sets may_normalize of a finished schema from that of its parts.
void SetTraits(Schema& schema);

}  // namespace strata::schema
