#pragma once

#include <optional>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/clock.h"
#include "base/result.h"
#include "net/http_server.h"

// What a webhook shows the API server, and what the API server has to trust for it. Made here and
// renewed in time; decisions only.
namespace strata::webhooks {

struct Certificates {
  // One certificate, or two for as long as some replica may still show one of the authority before.
  std::string authority_pem;
  std::string authority_key_pem;  // "" when it is not ours to sign with
  net::ServerCertificate server;

  friend bool operator==(const Certificates& a, const Certificates& b) {
    return a.authority_pem == b.authority_pem && a.authority_key_pem == b.authority_key_pem &&
           a.server.certificate_pem == b.server.certificate_pem &&
           a.server.key_pem == b.server.key_pem;
  }
};

inline constexpr Duration kServerLifetime = std::chrono::hours(24 * 365);
// They are renewed in the last third of their life, so that a month of trouble does no harm.
inline constexpr Duration kServerReserve = kServerLifetime / 3;
// An authority outlives what it signs.
inline constexpr Duration kAuthorityReserve = 2 * kServerLifetime;

// Whether they hold for the first of `hosts`, which is the name that API servers ask for, and long
// enough, and key and authority belong to the certificate.
[[nodiscard]] bool AreGood(const Certificates& certificates,
                           std::span<const std::string> hosts,
                           Time now);

// Fresh ones for all of `hosts`: of the same authority where that is good and its key is there,
// else of a new one; the previous one stays beside it until it expires.
[[nodiscard]] Result<Certificates> Renew(const std::optional<Certificates>& before,
                                         std::span<const std::string> hosts,
                                         Time now);

// Whom to trust where `before` was trusted: `before` as it is when `ours` is part of it, else
// `ours` and what still holds of `before`, at most four certificates. So replicas with different
// authorities add theirs once each, in place of putting out each other's for ever.
[[nodiscard]] std::string TrustedToo(const std::string& before, const std::string& ours, Time now);

// As a Secret has them: ca.crt, tls.crt, tls.key, as Volcano's, and ca.key. None when one of the
// first three is missing or no base64.
[[nodiscard]] std::optional<Certificates> FromSecret(const nlohmann::json& secret);
// `secret` with these in the place of what it had; {} for a new one.
[[nodiscard]] nlohmann::json ToSecret(const Certificates& certificates, nlohmann::json secret);

}  // namespace strata::webhooks
