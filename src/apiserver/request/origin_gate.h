#pragma once

#include "net/http_server.h"

namespace strata::apiserver {

enum class Reach : bool { kLoopback, kNetwork };

// Lets requests pass that no web page sent: over plain HTTP no token stands between a page that a
// browser of this machine shows and the server. Refused (403) are requests whose Origin is not the
// server they are sent to, and at a server that only this machine reaches those that call it by a
// name other than localhost, which some page's owner may have pointed here.
[[nodiscard]] net::HeadCheck RefuseForeignPages(Reach reach);

}  // namespace strata::apiserver
