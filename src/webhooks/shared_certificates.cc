#include "webhooks/shared_certificates.h"

#include <optional>

#include <nlohmann/json.hpp>

#include "json/dump.h"
#include "json/parse.h"
#include "kube/resource.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;

tl::unexpected<Error> Failed(const SecretName& secret, kube::Failure failure) {
  return tl::unexpected<Error>(
      std::move(failure.error).Context("secret " + secret.ns + "/" + secret.name));
}

}  // namespace

Result<Certificates> ShareCertificates(const Ask& ask,
                                       const SecretName& secret,
                                       std::span<const std::string> hosts,
                                       const Certificates& shown,
                                       Time now) {
  const kube::ResourcePath path{kube::kSecrets, secret.ns, secret.name, ""};
  kube::Reply got = ask(kube::GetCall(path));
  if (!got && got.error().http_status != 404) return Failed(secret, std::move(got).error());
  const json found = got ? ParseJsonOrNull(*got) : json();
  const std::optional<Certificates> before = FromSecret(found);
  if (before && AreGood(*before, hosts, now)) return *before;

  TRY_ASSIGN(const Certificates fresh, Renew(before.value_or(shown), hosts, now));
  json written = found.is_object() ? found
                                   : json{{"apiVersion", "v1"},
                                          {"kind", "Secret"},
                                          {"metadata", {{"name", secret.name}}},
                                          {"type", "Opaque"}};
  const std::string body = DumpJson(ToSecret(fresh, std::move(written)));
  kube::Reply put = found.is_object()
                        ? ask(kube::UpdateCall(path, body))
                        : ask(kube::CreateCall({kube::kSecrets, secret.ns, "", ""}, body));
  if (!put) return Failed(secret, std::move(put).error());
  return fresh;
}

}  // namespace strata::webhooks
