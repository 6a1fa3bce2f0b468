#pragma once

#include "apiserver/request/call.h"
#include "apiserver/state/server_state.h"

namespace strata::apiserver {

// DELETE of one object, and of a collection.
void HandleDelete(ServerState& state, const CallRef& call);
void HandleDeleteCollection(ServerState& state, const CallRef& call);

}  // namespace strata::apiserver
