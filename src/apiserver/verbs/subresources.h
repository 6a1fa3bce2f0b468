#pragma once

#include "apiserver/request/call.h"
#include "apiserver/state/server_state.h"

namespace strata::apiserver {

// POST pods/<name>/binding: gives the pod its node.
void HandleBinding(ServerState& state, const CallRef& call);
// POST pods/<name>/eviction: deletes the pod unless a budget forbids it.
void HandleEviction(ServerState& state, const CallRef& call);
// GET pods/<name>/log.
void HandleLog(ServerState& state, const Call& call);
// POST of a SelfSubjectAccessReview: everybody may do everything.
void HandleAccessReview(ServerState& state, const CallRef& call);

}  // namespace strata::apiserver
