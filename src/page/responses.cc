#include "page/responses.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "apiserver/request/api_error.h"
#include "json/dump.h"
#include "net/gzip.h"

namespace strata::page {
namespace {

constexpr std::size_t kWorthCompressing = 1024;

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";
constexpr std::string_view kPermissions =
    "accelerometer=(), autoplay=(), camera=(), display-capture=(), encrypted-media=(), "
    "fullscreen=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), "
    "payment=(), picture-in-picture=(), publickey-credentials-get=(), screen-wake-lock=(), "
    "serial=(), usb=(), web-share=(), xr-spatial-tracking=()";

net::HttpResponse Secured(int code, std::string_view type, std::string_view caching) {
  net::HttpResponse response;
  response.status = code;
  response.headers = {{"Content-Type", std::string(type)},
                      {"Cache-Control", std::string(caching)},
                      {"Content-Security-Policy", std::string(kPolicy)},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Cross-Origin-Resource-Policy", "same-origin"},
                      {"Permissions-Policy", std::string(kPermissions)}};
  return response;
}

}  // namespace

net::HttpResponse JsonResponse(std::string json) {
  net::HttpResponse response = Secured(200, "application/json", "no-store");
  response.body = std::move(json);
  return response;
}

net::HttpResponse ErrorResponse(int code, std::string_view reason, const std::string& message) {
  net::HttpResponse response = Secured(code, "application/json", "no-store");
  apiserver::ApiError error;
  error.code = code;
  error.reason = reason;
  error.message = message;
  response.body = DumpJson(apiserver::ToStatus(error)) + "\n";
  if (code == 401) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  return response;
}

net::HttpResponse Refusal(int code) {
  const bool busy = code == 429 || code == 503;
  return ErrorResponse(
      code, busy ? "TooManyRequests" : "BadRequest", "the request cannot be served");
}

net::HttpResponse FileResponse(const page_files::PageFile& file) {
  net::HttpResponse response = Secured(
      200, file.content_type, file.immutable ? "public, max-age=31536000, immutable" : "no-store");
  response.headers.push_back({"Content-Encoding", "gzip"});
  response.body = file.gzipped;
  return response;
}

const page_files::PageFile* FindPageFile(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.empty()) path = "index.html";
  const auto files = page_files::PageFiles();
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

net::HttpResponse StreamHead() {
  net::HttpResponse response = Secured(200, "text/event-stream", "no-store");
  response.headers.push_back({"X-Accel-Buffering", "no"});  // a proxy is not to collect events
  return response;
}

void Send(net::Exchange& exchange, net::HttpResponse response) {
  const bool is_compressed =
      std::any_of(response.headers.begin(), response.headers.end(), [](const net::Header& header) {
        return header.name == "Content-Encoding";
      });
  if (!is_compressed && response.body.size() >= kWorthCompressing &&
      net::AcceptsGzip(exchange.request())) {
    response.body = net::Gzip(response.body);
    response.headers.push_back({"Content-Encoding", "gzip"});
    response.headers.push_back({"Vary", "Accept-Encoding"});
  }
  exchange.Respond(std::move(response));
}

}  // namespace strata::page
