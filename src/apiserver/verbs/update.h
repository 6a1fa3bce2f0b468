#pragma once

#include <nlohmann/json.hpp>

#include "apiserver/request/call.h"
#include "apiserver/request/query_options.h"
#include "apiserver/state/server_state.h"
#include "apiserver/verbs/create.h"

namespace strata::apiserver {

// PUT of an object or its status.
void HandleUpdate(ServerState& state, const CallRef& call);

// Name and namespace of a body against those of the path: put in where they are missing, refused
// where they differ.
[[nodiscard]] ApiResult<void> PutNames(const Call& call, nlohmann::json& object);

// A change on its way: from `live` (`before` is its value) to `after`, all with apiVersion and
// kind.
struct Edition {
  ObjectRef live;
  nlohmann::json before;
  nlohmann::json after;
  ManagedFields managed = ManagedFields::kRecord;
};

// The rest of an update once the new object is there: also for patches. Nothing is written when
// nothing changes; removing the last finalizer of a terminating object removes it.
void UpdateObject(ServerState& state,
                  const CallRef& call,
                  Edition edition,
                  const WriteOptions& options);

}  // namespace strata::apiserver
