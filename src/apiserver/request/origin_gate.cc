#include "apiserver/request/origin_gate.h"

#include <arpa/inet.h>

#include <string>
#include <string_view>

#include "apiserver/request/api_error.h"
#include "apiserver/request/call.h"
#include "base/ascii.h"

namespace strata::apiserver {
namespace {

// "[::1]:80" -> "::1", "localhost:80" -> "localhost".
std::string NameOfHost(std::string_view host) {
  if (host.starts_with('[')) return std::string(host.substr(1, host.find(']') - 1));
  return LowerCase(host.substr(0, host.find(':')));
}

bool IsAddress(const std::string& name) {
  in6_addr address{};
  return inet_pton(AF_INET, name.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

bool IsForeign(Reach reach, const net::HttpRequest& request) {
  const std::string_view host = Trim(request.HeaderValue("Host"));
  const std::string_view origin = Trim(request.HeaderValue("Origin"));
  if (!origin.empty() && LowerCase(origin) != "http://" + LowerCase(host)) return true;
  if (reach == Reach::kNetwork || host.empty()) return false;  // HTTP/1.0 has no Host
  const std::string name = NameOfHost(host);
  return name != "localhost" && !IsAddress(name);
}

}  // namespace

net::HeadCheck RefuseForeignPages(Reach reach) {
  return [reach](const net::HttpRequest& request) {
    net::HeadVerdict verdict;
    if (!IsForeign(reach, request)) return verdict;
    ApiError error;
    error.code = 403;
    error.reason = "Forbidden";
    error.message = "forbidden: the request comes from a web page of another server";
    verdict = {.caller = net::HeadVerdict::Caller::kStranger, .refusal = ErrorResponse(error, {})};
    return verdict;
  };
}

}  // namespace strata::apiserver
