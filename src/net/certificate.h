#pragma once

#include <span>
#include <string>
#include <vector>

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

inline constexpr Duration kTenYears = std::chrono::hours(24 * 365 * 10);

// A CA with a fresh key, valid from an hour before `now` until `lifetime` after it. `name` is its
// common name.
[[nodiscard]] Result<CertificateAuthority> MakeAuthority(const std::string& name,
                                                         Time now,
                                                         Duration lifetime = kTenYears);

// A fresh key and a certificate for it, for servers only. `hosts` are DNS names and IP addresses;
// the first is the common name. kInvalidArgument when `authority` is not one.
[[nodiscard]] Result<ServerCertificate> IssueCertificate(const CertificateAuthority& authority,
                                                         std::span<const std::string> hosts,
                                                         Time now,
                                                         Duration lifetime = kTenYears);

// What the first certificate of a PEM text says. kInvalidArgument when there is none.
struct CertificateFacts {
  Time not_before;
  Time not_after;
  std::vector<std::string> hosts;  // DNS names and IP addresses, as they stand in it
};
[[nodiscard]] Result<CertificateFacts> ReadCertificate(const std::string& pem);

// Whether the first certificate of `authority_pem` signed the first of `certificate_pem`.
[[nodiscard]] bool IsSignedBy(const std::string& certificate_pem, const std::string& authority_pem);

// Whether `key_pem` is the private key of the first certificate of `certificate_pem`.
[[nodiscard]] bool IsKeyOf(const std::string& key_pem, const std::string& certificate_pem);

}  // namespace strata::net
