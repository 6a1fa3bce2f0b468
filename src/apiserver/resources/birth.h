#pragma once

#include "apiserver/server_state.h"
#include "base/result.h"

namespace strata::apiserver {

// Serves what the store holds, and writes what a cluster is born with where it is missing.
[[nodiscard]] Status Begin(ServerState& state);

}  // namespace strata::apiserver
