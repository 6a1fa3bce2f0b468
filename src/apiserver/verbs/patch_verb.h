#pragma once

#include "apiserver/request/call.h"
#include "apiserver/state/server_state.h"

namespace strata::apiserver {

// PATCH of an object or its status: JSON patch, merge patch, strategic merge patch (built-in kinds)
// and server-side apply, by the Content-Type.
void HandlePatch(ServerState& state, const CallRef& call);

}  // namespace strata::apiserver
