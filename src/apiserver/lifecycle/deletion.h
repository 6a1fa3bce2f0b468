#pragma once

#include <functional>

#include <nlohmann/json.hpp>

#include "apiserver/request/api_error.h"
#include "apiserver/request/query_options.h"
#include "apiserver/resources/resource.h"
#include "apiserver/state/server_state.h"
#include "apiserver/store/object_store.h"

namespace strata::apiserver {

// What became of an object that was to be deleted.
struct Deleted {
  nlohmann::json object;  // its last state, or its state while it is terminating
  bool gone = false;      // otherwise grace period, finalizers or its contents keep it
};
using DeleteDone = std::function<void(ApiResult<Deleted>)>;

// 409 when the uid or the resourceVersion is not the one that was meant.
[[nodiscard]] ApiResult<void> CheckDeletePreconditions(const Resource& resource,
                                                       const StoredObject& live,
                                                       const DeleteOptions& options);

// Deletes one object as DELETE does: preconditions, then grace for running
// pods, finalizers and propagation; deleting a namespace or definition deletes what it holds.
void DeleteObject(ServerState& state,
                  const ResourceRef& resource,
                  const ObjectRef& live,
                  const DeleteOptions& options,
                  DeleteDone done);

}  // namespace strata::apiserver
