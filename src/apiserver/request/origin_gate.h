#pragma once

#include "net/http_server.h"

namespace strata::apiserver {

enum class Reach : bool { kLoopback, kNetwork };

// `next`, but not for web pages: over plain HTTP no token stands between a page that a browser of
// this machine shows and the server. Refused (403) are requests whose Origin is not the server they
// are sent to, and at a server that only this machine reaches those that call it by a name other
// than localhost, which some page's owner may have pointed here.
[[nodiscard]] net::RequestHandler RefuseForeignPages(Reach reach, net::RequestHandler next);

}  // namespace strata::apiserver
