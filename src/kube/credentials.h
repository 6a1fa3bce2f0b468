#pragma once

#include <string>
#include <string_view>

namespace strata::kube {

// Whether a token can stand in a header: a line end in it would end the header, a NUL cut it off.
[[nodiscard]] constexpr bool FitsHeader(std::string_view token) {
  for (const char c : token) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return true;
}

// Our identity for the server, beside client certificates. From any thread; must not block.
class Credentials {
 public:
  Credentials() = default;
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;
  virtual ~Credentials() = default;

  // The value of the Authorization header as of now; "" for none.
  [[nodiscard]] virtual std::string Authorization() = 0;
  // The server does not know us (401): get new ones, for the next time.
  virtual void Renew() = 0;
  // Whether new ones are on their way.
  [[nodiscard]] virtual bool Renewing() { return false; }
};

}  // namespace strata::kube
