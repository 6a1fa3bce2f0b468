#pragma once

#include <string>

#include "base/result.h"
#include "discovery/reader.h"

namespace strata::discovery {

// An address as messages show it: what stands behind '?' may be a token.
[[nodiscard]] std::string ShownUrl(const std::string& url);

// Fails unless the server answered 200: what the status means, and the next step. Nothing of the
// body, which may repeat what was sent.
[[nodiscard]] Status CheckStatus(const std::string& url, const HttpAnswer& answer);

}  // namespace strata::discovery
