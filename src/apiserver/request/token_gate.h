#pragma once

#include <string>

#include "net/http_server.h"

namespace strata::apiserver {

// Lets requests with `token` pass ("Authorization: Bearer ..."). Another token gets 401, a request
// without one 403, as user system:anonymous; but /healthz, /livez, /readyz and /version need none:
// who asks for them is a stranger. How long a comparison takes says nothing about the token.
[[nodiscard]] net::HeadCheck RequireToken(const std::string& token);

}  // namespace strata::apiserver
