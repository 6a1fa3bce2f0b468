#include "page/access.h"

#include <openssl/rand.h>

#include <array>
#include <utility>

#include <fmt/format.h>

#include "apiserver/request/origin_gate.h"
#include "apiserver/request/token_gate.h"
#include "base/ascii.h"
#include "base/check.h"
#include "page/responses.h"

namespace strata::page {

net::HeadCheck CheckAccess(const std::string& token) {
  net::HeadCheck same_site = apiserver::RefuseForeignPages(apiserver::Reach::kLoopback);
  net::HeadCheck has_token = token.empty() ? net::HeadCheck() : apiserver::RequireToken(token);
  return [same_site = std::move(same_site),
          has_token = std::move(has_token)](const net::HttpRequest& request) {
    net::HeadVerdict verdict = same_site(request);
    if (verdict.refusal) {
      verdict.refusal =
          ErrorResponse(403, "Forbidden", "the request comes from a web page of another server");
      return verdict;
    }
    if (!has_token) return verdict;
    if (!request.path.starts_with(kDataPath)) {
      verdict.caller = net::HeadVerdict::Caller::kStranger;
      return verdict;
    }
    verdict = has_token(request);
    if (verdict.refusal) {
      verdict.refusal = ErrorResponse(
          401, "Unauthorized", "Unauthorized: want the token of the URL that the server printed");
    }
    return verdict;
  };
}

net::HeadCheck CheckAccessByReview() {
  return [](const net::HttpRequest& request) {
    net::HeadVerdict verdict;
    const bool is_data = request.path.starts_with(kDataPath);
    const bool has_token = request.HeaderValue("Authorization").starts_with("Bearer ");
    verdict.caller =
        has_token ? net::HeadVerdict::Caller::kKnown : net::HeadVerdict::Caller::kStranger;
    const std::string host = LowerCase(Trim(request.HeaderValue("Host")));
    const std::string origin = LowerCase(Trim(request.HeaderValue("Origin")));
    // A proxy in between may end TLS, so either scheme is the own one.
    if (!origin.empty() && origin != "https://" + host && origin != "http://" + host) {
      verdict.refusal =
          ErrorResponse(403, "Forbidden", "the request comes from a web page of another server");
    } else if (is_data && !has_token) {
      verdict.refusal = ErrorResponse(
          401, "Unauthorized", "Unauthorized: want a token, as \"Authorization: Bearer TOKEN\"");
    }
    return verdict;
  };
}

std::string NewToken() {
  std::array<unsigned char, 32> secret{};
  CHECK(RAND_bytes(secret.data(), static_cast<int>(secret.size())) == 1);
  std::string token;
  for (const unsigned char byte : secret) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace strata::page
