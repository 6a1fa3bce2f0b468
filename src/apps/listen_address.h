#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace strata {

// Where a server listens: "127.0.0.1:8443", "[::1]:0".
struct ListenAddress {
  std::string host;  // an IP address, without brackets
  std::uint16_t port = 0;

  [[nodiscard]] bool IsLoopback() const;
  // "127.0.0.1:8443", "[::1]:8443": what follows "https://". Who listens on every address is
  // reached by the loopback one.
  [[nodiscard]] std::string UrlHost() const;
  // What a certificate of the server names: loopback in every form, and `host` or, for every
  // address, the name of the machine.
  [[nodiscard]] std::vector<std::string> CertificateHosts() const;
};

[[nodiscard]] Result<ListenAddress> ParseListenAddress(const std::string& text);

}  // namespace strata
