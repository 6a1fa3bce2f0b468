#include "webhooks/shared_certificates.h"

#include <optional>

#include <nlohmann/json.hpp>

#include "apiserver/request/json_view.h"
#include "kube/resource.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;

tl::unexpected<Error> Failed(const SecretName& secret, kube::Failure failure) {
  return tl::unexpected<Error>(
      std::move(failure.error).Context("secret " + secret.space + "/" + secret.name));
}

}  // namespace

Result<Certificates> ShareCertificates(const Ask& ask,
                                       const SecretName& secret,
                                       std::span<const std::string> hosts,
                                       const Certificates& shown,
                                       Time now) {
  const kube::ResourcePath path{kube::kSecrets, secret.space, secret.name, ""};
  kube::Reply got = ask(kube::GetCall(path));
  if (!got && got.error().http_status != 404) return Failed(secret, std::move(got).error());
  const json found = got ? json::parse(*got, nullptr, false) : json();
  const std::optional<Certificates> before = FromSecret(found);
  if (before && AreGood(*before, hosts, now)) return *before;

  TRY_ASSIGN(const Certificates fresh, Renew(before.value_or(shown), hosts, now));
  json written = found.is_object() ? found
                                   : json{{"apiVersion", "v1"},
                                          {"kind", "Secret"},
                                          {"metadata", {{"name", secret.name}}},
                                          {"type", "Opaque"}};
  const std::string body = apiserver::Shown(ToSecret(fresh, std::move(written)));
  kube::Reply put = found.is_object()
                        ? ask(kube::UpdateCall(path, body))
                        : ask(kube::CreateCall({kube::kSecrets, secret.space, "", ""}, body));
  if (!put) return Failed(secret, std::move(put).error());
  return fresh;
}

}  // namespace strata::webhooks
