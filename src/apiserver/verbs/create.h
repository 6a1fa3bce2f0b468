#pragma once

#include <nlohmann/json.hpp>

#include "apiserver/request/call.h"
#include "apiserver/request/query_options.h"
#include "apiserver/state/server_state.h"

namespace strata::apiserver {

// POST to a collection.
void HandleCreate(ServerState& state, const CallRef& call);

// The rest of a create once the object is read: also for PUT and apply of what is missing.
// `owned`: metadata.managedFields are made already.
enum class ManagedFields : bool { kRecord, kGiven };
void CreateObject(ServerState& state,
                  const CallRef& call,
                  nlohmann::json object,
                  const WriteOptions& options,
                  ManagedFields managed);

}  // namespace strata::apiserver
