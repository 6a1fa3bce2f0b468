#include "apps/debug_pages.h"

#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"

namespace strata {
namespace {

net::HttpResponse Text(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::move(body)};
}

net::HttpResponse SetVerbosity(const net::HttpRequest& request, obs::Log& log) {
  if (request.method != "PUT") return Text(405, "want PUT with a number\n");
  const auto level = WholeNumber(Trim(request.body), kMostVerbose);
  if (!level) return Text(400, fmt::format("\"{}\" is no verbosity\n", request.body));
  log.set_verbosity(static_cast<int>(*level));
  return Text(200, fmt::format("successfully set klog.logging.verbosity to {}\n", *level));
}

}  // namespace

net::HttpResponse AnswerDebugPage(const net::HttpRequest& request, const DebugSources& sources) {
  if (request.path == "/debug/flags/v" && sources.log != nullptr) {
    return SetVerbosity(request, *sources.log);
  }
  if (request.method != "GET") return Text(405, "want GET\n");
  if (request.path == "/metrics") {
    return {.status = 200,
            .headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
            .body = sources.metrics()};
  }
  if (request.path == "/healthz" || request.path == "/livez") return Text(200, "ok");
  if (request.path == "/readyz") {
    return sources.ready() ? Text(200, "ok") : Text(503, "the cluster has not been seen yet\n");
  }
  return Text(404, "404 page not found\n");
}

Result<ListenAddress> ParsePagesAddress(const std::string& text) {
  return ParseListenAddress(text.starts_with(":") ? "0.0.0.0" + text : text);
}

Result<std::unique_ptr<net::HttpServer>> ServeDebugPages(net::EventLoop& loop,
                                                         const std::string& address,
                                                         DebugSources sources) {
  TRY_ASSIGN(const ListenAddress listen, ParsePagesAddress(address));
  net::HttpServerOptions options;
  options.host = listen.host;
  options.port = listen.port;
  options.refusal = [](int status) { return Text(status, "refused\n"); };
  return net::HttpServer::Listen(
      loop,
      std::move(options),
      [sources = std::move(sources)](const std::shared_ptr<net::Exchange>& exchange) {
        exchange->Respond(AnswerDebugPage(exchange->request(), sources));
      });
}

}  // namespace strata
