#pragma once

#include <string>

#include "net/http_server.h"

namespace strata::apiserver {

// `next`, for those who bring `token` ("Authorization: Bearer ..."). Who brings another is answered
// 401, who brings none 403, as user system:anonymous; but /healthz, /livez, /readyz and /version
// are for everybody. How long a comparison takes says nothing about the token.
[[nodiscard]] net::RequestHandler RequireToken(const std::string& token, net::RequestHandler next);

}  // namespace strata::apiserver
