#pragma once

#include "apiserver/request/call.h"
#include "apiserver/request/query_options.h"
#include "apiserver/request/selectors.h"
#include "apiserver/state/server_state.h"

namespace strata::apiserver {

// GET of a collection without watch. Waits up to three seconds for a resourceVersion of the future,
// as Kubernetes does.
void HandleList(ServerState& state, const CallRef& call, const ListOptions& options);
// GET of one object.
void HandleGet(ServerState& state, const Call& call);

// The selector of a list, a watch or a deletion of a collection; 400 when it is none.
[[nodiscard]] ApiResult<Selector> ReadSelector(const Resource& resource,
                                               const ListOptions& options);
// The number of a resourceVersion, 0 for "" and "0".
[[nodiscard]] ApiResult<std::int64_t> ReadVersion(std::string_view text);

// Answers with a list of `objects` in the call's view.
struct ListAnswer {
  Snapshot page;
  std::string continue_token;
  std::int64_t remaining = 0;  // shown when above 0
};
void AnswerList(const Call& call, ListAnswer answer);

}  // namespace strata::apiserver
