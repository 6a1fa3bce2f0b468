#include "component/debug_pages.h"

#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "component/process_metrics.h"

namespace strata {
namespace {

net::HttpResponse Text(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::move(body)};
}

constexpr const char* kNotReady =
    "the cluster has not been seen yet, or a watch of it is overdue\n";

// A number.
constexpr std::size_t kMaxBody = 64;
// The kubelet, Prometheus, and people.
constexpr std::size_t kMaxConnections = 256;
// So that Prometheus need not connect anew for every scrape.
constexpr Duration kKept = std::chrono::minutes(1);

net::HttpResponse ChangesForbidden() {
  return Text(403, "changes are served on a loopback address, or with --allow-debug-changes\n");
}

net::HttpResponse SetVerbosity(const net::HttpRequest& request,
                               bool changes_allowed,
                               obs::Log& log) {
  if (request.method != "PUT") return Text(405, "want PUT with a number\n");
  if (!changes_allowed) return ChangesForbidden();
  const auto level = WholeNumber(Trim(request.body), kMaxVerbosity);
  if (!level) {
    return Text(400,
                fmt::format("invalid verbosity \"{}\": want an integer from 0 to {}\n",
                            Trim(request.body),
                            kMaxVerbosity));
  }
  log.set_verbosity(static_cast<int>(*level));
  return Text(200, fmt::format("successfully set klog.logging.verbosity to {}\n", *level));
}

}  // namespace

net::HttpResponse AnswerDebugPage(const net::HttpRequest& request, const DebugSources& sources) {
  if (request.path == "/debug/flags/v" && sources.log != nullptr) {
    return SetVerbosity(request, sources.changes_allowed, *sources.log);
  }
  if (request.method != "GET") return Text(405, "want GET\n");
  if (request.path == "/metrics") {
    return {.status = 200,
            .headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
            .body = sources.metrics() + obs::MetricsText(ProcessMetrics())};
  }
  if (request.path == "/healthz" || request.path == "/livez") {
    const std::string late = sources.late_thread ? sources.late_thread() : "";
    return late.empty() ? Text(200, "ok") : Text(500, late + "\n");
  }
  if (request.path == "/readyz") {
    return sources.ready() ? Text(200, "ok") : Text(503, kNotReady);
  }
  return Text(404, "404 page not found\n");
}

net::HeadVerdict CheckDebugHead(const net::HttpRequest& head, bool changes_allowed) {
  if (head.path != "/debug/flags/v" || head.method != "PUT") {
    return {.caller = net::HeadVerdict::Caller::kStranger, .refusal = {}};
  }
  if (changes_allowed) return {};
  return {.caller = net::HeadVerdict::Caller::kStranger, .refusal = ChangesForbidden()};
}

Result<ListenAddress> ParsePagesAddress(const std::string& text) {
  return ParseListenAddress(text.starts_with(":") ? "0.0.0.0" + text : text);
}

Result<std::unique_ptr<net::HttpServer>> ServeDebugPages(net::EventLoop& loop,
                                                         const std::string& address,
                                                         DebugSources sources) {
  TRY_ASSIGN(const ListenAddress listen, ParsePagesAddress(address));
  sources.changes_allowed = sources.changes_allowed || listen.IsLoopback();
  net::HttpServerOptions options;
  options.host = listen.host;
  options.port = listen.port;
  options.max_body_bytes = kMaxBody;
  options.max_connections = kMaxConnections;
  options.stranger_timeout = kKept;
  options.check_head = [allowed = sources.changes_allowed](const net::HttpRequest& head) {
    return CheckDebugHead(head, allowed);
  };
  options.refusal = [](int status) { return Text(status, "refused\n"); };
  return net::HttpServer::Listen(
      loop,
      std::move(options),
      [sources = std::move(sources)](const std::shared_ptr<net::Exchange>& exchange) {
        exchange->Respond(AnswerDebugPage(exchange->request(), sources));
      });
}

}  // namespace strata
