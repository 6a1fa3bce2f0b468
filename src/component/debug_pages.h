#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "component/listen_address.h"
#include "net/event_loop.h"
#include "net/http_message.h"
#include "net/http_server.h"
#include "obs/log.h"

namespace strata {

// The largest accepted log verbosity; levels above 5 log no more than 5.
inline constexpr std::int64_t kMaxVerbosity = 1000;

// Where the debug pages get their contents. Called on the loop that serves the pages.
struct DebugSources {
  std::function<std::string()> metrics;
  std::function<bool()> ready;
  obs::Log* log = nullptr;  // PUT /debug/flags/v sets its verbosity
  // Whether PUT is served. ServeDebugPages always serves it on a loopback address.
  bool changes_allowed = false;
  // The thread that hangs, "" when none does; may be empty.
  std::function<std::string()> late_thread = {};
};

// GET /metrics, /healthz, /livez, /readyz, and PUT /debug/flags/v with a number as its body, as
// Kubernetes' components serve them. /metrics has what `sources` say, then the figures of the
// process (process_metrics.h). The PUT is rejected unless `sources` allow it. Calls `sources`, and
// has no other effect.
[[nodiscard]] net::HttpResponse AnswerDebugPage(const net::HttpRequest& request,
                                                const DebugSources& sources);

// Everybody who reaches the port may ask, so everybody is a stranger (net/http_server.h), whose
// connection is the first to be replaced, and has no body; but for the PUT where it is allowed.
[[nodiscard]] net::HeadVerdict CheckDebugHead(const net::HttpRequest& head, bool changes_allowed);

// The address of debug pages. ":8080" means port 8080 on all addresses.
[[nodiscard]] Result<ListenAddress> ParsePagesAddress(const std::string& text);

// Serves the pages at `address`. `loop` must outlive the server.
[[nodiscard]] Result<std::unique_ptr<net::HttpServer>> ServeDebugPages(net::EventLoop& loop,
                                                                       const std::string& address,
                                                                       DebugSources sources);

}  // namespace strata
