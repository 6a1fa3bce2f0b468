#pragma once

#include "objects/value.h"

namespace strata::objects {

// Whether metadata.resourceVersion is set: a server has stored the object, so it has judged it.
[[nodiscard]] bool IsAccepted(const Value& object);

}  // namespace strata::objects
