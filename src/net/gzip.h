#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/http_server.h"

namespace strata::net {

// Whether the peer takes an answer with Content-Encoding: gzip.
[[nodiscard]] bool AcceptsGzip(const HttpRequest& request);

// `text` compressed, fast rather than small.
[[nodiscard]] std::string Gzip(std::string_view text);
// What `source` gives, compressed on its way. For answers that end: what a source that waits has
// given so far is not held back, which costs some bytes each time.
[[nodiscard]] std::unique_ptr<BodySource> GzipSource(std::unique_ptr<BodySource> source);

}  // namespace strata::net
