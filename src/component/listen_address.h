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
  // "127.0.0.1:8443", "[::1]:8443": what follows "https://" in a URL. For a server that listens on
  // all addresses, this is the loopback address.
  [[nodiscard]] std::string UrlHost() const;
  // The hosts that the server's certificate names: the loopback addresses, localhost, and `host`
  // (or, for a server that listens on all addresses, the name of the machine).
  [[nodiscard]] std::vector<std::string> CertificateHosts() const;
};

// kInvalidArgument unless `text` is an IP address and a port.
[[nodiscard]] Result<ListenAddress> ParseListenAddress(const std::string& text);

}  // namespace strata
