#pragma once

#include "apiserver/state/server_state.h"
#include "base/result.h"

namespace strata::apiserver {

// Serves what the store holds, writes what a new cluster starts with where it is missing, and
// continues deletions that a previous process began.
[[nodiscard]] Status Bootstrap(ServerState& state);

}  // namespace strata::apiserver
