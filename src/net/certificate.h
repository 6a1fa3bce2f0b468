#pragma once

#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "net/http_server.h"

// Certificates of a server that nobody certified: a CA of one's own, whose certificate clients are
// given by hand. ECDSA on P-256, made in about a millisecond; PEM texts.
namespace strata::net {

struct CertificateAuthority {
  std::string certificate_pem;
  std::string key_pem;
};

// A CA with a fresh key, valid for ten years from an hour before `now`. `name` is its common name.
[[nodiscard]] Result<CertificateAuthority> MakeAuthority(const std::string& name, Time now);

// A fresh key and a certificate for it, for servers only, valid as long. `hosts` are DNS names and
// IP addresses; the first is the common name. kInvalidArgument when `authority` is not one.
[[nodiscard]] Result<ServerCertificate> IssueCertificate(const CertificateAuthority& authority,
                                                         std::span<const std::string> hosts,
                                                         Time now);

}  // namespace strata::net
