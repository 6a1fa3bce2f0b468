#pragma once

#include <string>

#include "net/http_server.h"

namespace strata::apiserver {

// `next`, for requests with `token` ("Authorization: Bearer ..."). Another token gets 401, a
// request without one 403, as user system:anonymous; but /healthz, /livez, /readyz and /version
// need none. How long a comparison takes says nothing about the token.
[[nodiscard]] net::RequestHandler RequireToken(const std::string& token, net::RequestHandler next);

}  // namespace strata::apiserver
