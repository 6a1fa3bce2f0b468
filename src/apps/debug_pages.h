#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "apps/listen_address.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/http_message.h"
#include "net/http_server.h"
#include "obs/log.h"

namespace strata {

// The largest -v that means anything to anybody.
inline constexpr std::int64_t kMostVerbose = 1000;

// What a component tells of itself over HTTP. Called on the loop that serves the pages.
struct DebugSources {
  std::function<std::string()> metrics;
  std::function<bool()> ready;
  obs::Log* log = nullptr;  // whose verbosity PUT /debug/flags/v sets
};

// GET /metrics, /healthz, /livez, /readyz, and PUT /debug/flags/v with a number as its body, as
// Kubernetes' components have them. Pure but for what `sources` do.
[[nodiscard]] net::HttpResponse AnswerDebugPage(const net::HttpRequest& request,
                                                const DebugSources& sources);

// ":8080" is every address.
[[nodiscard]] Result<ListenAddress> ParsePagesAddress(const std::string& text);

// Serves the pages at `address`. `loop` must outlive it.
[[nodiscard]] Result<std::unique_ptr<net::HttpServer>> ServeDebugPages(net::EventLoop& loop,
                                                                       const std::string& address,
                                                                       DebugSources sources);

}  // namespace strata
