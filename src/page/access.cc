#include "page/access.h"

#include <openssl/rand.h>

#include <array>
#include <utility>

#include <fmt/format.h>

#include "apiserver/request/origin_gate.h"
#include "apiserver/request/token_gate.h"
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

std::string NewToken() {
  std::array<unsigned char, 32> secret{};
  CHECK(RAND_bytes(secret.data(), static_cast<int>(secret.size())) == 1);
  std::string token;
  for (const unsigned char byte : secret) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace strata::page
