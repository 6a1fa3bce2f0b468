#include "net/http_message.h"

#include <algorithm>

namespace strata::net {
namespace {

constexpr char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::string_view HttpRequest::HeaderValue(std::string_view name) const {
  for (const Header& header : headers) {
    const bool same = std::equal(
        header.name.begin(), header.name.end(), name.begin(), name.end(), [](char a, char b) {
          return Lower(a) == Lower(b);
        });
    if (same) return header.value;
  }
  return {};
}

}  // namespace strata::net
