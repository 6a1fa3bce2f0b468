#pragma once

#include "apiserver/request/call.h"
#include "apiserver/request/query_options.h"
#include "apiserver/state/server_state.h"

namespace strata::apiserver {

// GET of a collection with watch=true: one JSON object per line, {"type":...,"object":...}, until
// timeoutSeconds have gone, the client leaves, or it falls so far behind that its next change is no
// longer kept. A resourceVersion that is too old is one ERROR event.
void HandleWatch(ServerState& state, const CallRef& call, const ListOptions& options);

}  // namespace strata::apiserver
