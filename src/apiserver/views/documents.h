#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/request/negotiation.h"
#include "apiserver/state/server_state.h"
#include "net/http_server.h"

namespace strata::apiserver {

// GET of what is about no resource: discovery, OpenAPI, version, health. False when `segments` is
// none of these.
[[nodiscard]] bool AnswerDocument(ServerState& state,
                                  net::Exchange& exchange,
                                  const std::vector<std::string>& segments,
                                  const Negotiated& out);

}  // namespace strata::apiserver
