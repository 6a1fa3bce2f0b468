#pragma once

#include "base/result.h"
#include "discovery/read_budget.h"
#include "discovery/reader.h"

namespace strata::discovery {

// One request by libcurl, within what `budget` leaves. Redirects are followed three times, never
// from HTTPS to HTTP, and credentials never go to another host. Errors name the address and the
// cause: refused, reset, certificate, too long, too much, cut off.
[[nodiscard]] Result<HttpAnswer> SendHttp(const HttpRequest& request, ReadBudget& budget);

}  // namespace strata::discovery
