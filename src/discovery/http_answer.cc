#include "discovery/http_answer.h"

#include <fmt/format.h>

namespace strata::discovery {

std::string ShownUrl(const std::string& url) {
  return url.substr(0, url.find('?'));
}

Status CheckStatus(const std::string& url, const HttpAnswer& answer) {
  if (answer.status == 200) return {};
  const char* step = "";
  if (answer.status == 401 || answer.status == 403) {
    step = ": the credentials were rejected (check the Secret of credentials.secretRef)";
  } else if (answer.status == 404) {
    step = ": nothing is served there (check endpoint)";
  } else if (answer.status >= 500) {
    step = ": the server failed (try again later)";
  }
  return Fail(Code::kUnavailable,
              fmt::format("{}: HTTP status {}{}", ShownUrl(url), answer.status, step));
}

}  // namespace strata::discovery
