#pragma once

#include <string_view>

#include "base/result.h"
#include "discovery/fabric.h"

namespace strata::discovery {

// Whether a text is in the form of `ibnetdiscover -p`: one line per port.
[[nodiscard]] bool LooksLikePortLines(std::string_view text);

// The fabric of such a text, by the rules of ParseIbnetdiscover (infiniband.h).
[[nodiscard]] Result<Fabric> ParsePortLines(std::string_view text);

}  // namespace strata::discovery
