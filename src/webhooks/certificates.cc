#include "webhooks/certificates.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "json/access.h"
#include "net/certificate.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;

constexpr const char* kAuthorityName = "strata-webhooks-ca";
constexpr std::size_t kMaxTrusted = 4;

bool Holds(const std::string& pem, Time now, Duration reserve) {
  const auto facts = net::ReadCertificate(pem);
  return facts && facts->not_before <= now && now + reserve < facts->not_after;
}

bool Names(const net::CertificateFacts& facts, const std::string& host) {
  return std::count(facts.hosts.begin(), facts.hosts.end(), host) != 0;
}

// The certificates of a PEM text, each a text of its own.
std::vector<std::string> CertificatesIn(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  std::vector<std::string> found;
  for (std::size_t at = pem.find(kBegin); at != std::string_view::npos; at = pem.find(kBegin, at)) {
    const std::size_t end = pem.find(kEnd, at);
    if (end == std::string_view::npos) break;
    found.emplace_back(pem.substr(at, end + kEnd.size() - at)).append("\n");
    at = end;
  }
  return found;
}

bool MaySign(const Certificates& certificates, Time now) {
  return !certificates.authority_key_pem.empty() &&
         Holds(certificates.authority_pem, now, kAuthorityReserve);
}

Result<Certificates> WithNewAuthority(const std::optional<Certificates>& before, Time now) {
  TRY_ASSIGN(net::CertificateAuthority made, net::MakeAuthority(kAuthorityName, now));
  Certificates fresh;
  fresh.authority_pem = std::move(made.certificate_pem);
  fresh.authority_key_pem = std::move(made.key_pem);
  const std::vector<std::string> trusted =
      before ? CertificatesIn(before->authority_pem) : std::vector<std::string>();
  if (!trusted.empty() && Holds(trusted.front(), now, Duration(0))) {
    fresh.authority_pem += trusted.front();
  }
  return fresh;
}

}  // namespace

bool AreGood(const Certificates& certificates, std::span<const std::string> hosts, Time now) {
  const auto facts = net::ReadCertificate(certificates.server.certificate_pem);
  const bool ours = !certificates.authority_key_pem.empty();
  return facts && (hosts.empty() || Names(*facts, hosts.front())) &&
         net::IsKeyOf(certificates.server.key_pem, certificates.server.certificate_pem) &&
         Holds(certificates.server.certificate_pem, now, kServerReserve) &&
         Holds(certificates.authority_pem, now, ours ? kAuthorityReserve : kServerReserve) &&
         net::IsSignedBy(certificates.server.certificate_pem, certificates.authority_pem);
}

Result<Certificates> Renew(const std::optional<Certificates>& before,
                           std::span<const std::string> hosts,
                           Time now) {
  if (before && MaySign(*before, now)) {
    Certificates fresh = *before;
    auto issued = net::IssueCertificate(
        {fresh.authority_pem, fresh.authority_key_pem}, hosts, now, kServerLifetime);
    if (issued) {
      fresh.server = *std::move(issued);
      return fresh;
    }  // else its key does not match
  }
  TRY_ASSIGN(Certificates fresh, WithNewAuthority(before, now));
  TRY_ASSIGN(fresh.server,
             net::IssueCertificate(
                 {fresh.authority_pem, fresh.authority_key_pem}, hosts, now, kServerLifetime));
  return fresh;
}

std::string TrustedToo(const std::string& before, const std::string& ours, Time now) {
  const std::vector<std::string> wanted = CertificatesIn(ours);
  const std::vector<std::string> present = CertificatesIn(before);
  const auto among = [](const std::vector<std::string>& all) {
    return [&all](const std::string& pem) { return std::count(all.begin(), all.end(), pem) != 0; };
  };
  if (wanted.empty()) return ours;
  if (std::all_of(wanted.begin(), wanted.end(), among(present))) return before;
  std::string together;
  for (const std::string& pem : wanted) together += pem;
  std::size_t count = wanted.size();
  for (const std::string& pem : present) {
    if (count >= kMaxTrusted || among(wanted)(pem) || !Holds(pem, now, Duration(0))) continue;
    together += pem;
    ++count;
  }
  return together;
}

std::optional<Certificates> FromSecret(const json& secret) {
  const auto read = [&](std::string_view key) {
    return DecodeBase64(TextAt(secret, {"data", key})).value_or("");
  };
  Certificates found;
  found.authority_pem = read("ca.crt");
  found.authority_key_pem = read("ca.key");
  found.server = {read("tls.crt"), read("tls.key")};
  const bool complete = !found.authority_pem.empty() && !found.server.certificate_pem.empty() &&
                        !found.server.key_pem.empty();
  return complete ? std::optional(std::move(found)) : std::nullopt;
}

json ToSecret(const Certificates& certificates, json secret) {
  json& data = ObjectIn(secret, "data");
  data["ca.crt"] = EncodeBase64(certificates.authority_pem);
  data["ca.key"] = EncodeBase64(certificates.authority_key_pem);
  data["tls.crt"] = EncodeBase64(certificates.server.certificate_pem);
  data["tls.key"] = EncodeBase64(certificates.server.key_pem);
  return secret;
}

}  // namespace strata::webhooks
