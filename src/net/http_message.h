#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::net {

struct Header {
  std::string name;
  std::string value;
};

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // as sent, before '?': "/api/v1/pods"; not percent-decoded
  std::string query;   // as sent, after '?'; "" when there is none
  std::vector<Header> headers;
  std::string body;

  // The value of the first header of that name, "" when there is none. Names are compared without
  // case.
  [[nodiscard]] std::string_view HeaderValue(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::vector<Header> headers;
  std::string body;
};

}  // namespace strata::net
