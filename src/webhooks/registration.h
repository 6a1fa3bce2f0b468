#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/clock.h"
#include "base/result.h"
#include "webhooks/ask.h"
#include "webhooks/webhook.h"

// How the API server comes to know of the webhooks, and when it asks them: objects of
// admissionregistration.k8s.io.
namespace strata::webhooks {

// Where the API server finds them, a Service or a URL, and what it does not ask about.
struct Address {
  std::string service_namespace;
  std::string service_name;  // "" for a URL
  std::string url;           // "https://127.0.0.1:8443"
  std::string authority_pem;
  // Our own pods: webhooks that are down must not keep them from coming back.
  std::string own_namespace = "volcano-system";
  std::vector<std::string> scheduler_names = {"volcano"};  // whose pods are ours
};

// By which a Service is known where none is given.
inline constexpr std::string_view kUsualService = "strata-admission-service";

// "strata-admission-service-jobs-validate": after the Service. With the name of Volcano's
// Service they are Volcano's configurations; with any other name Volcano's stay untouched.
[[nodiscard]] std::string ConfigurationName(const Webhook& webhook, const Address& address);

// The configuration as it is made where there is none: CREATE and what else the webhook is asked
// about, everywhere but in our own namespace and kube-system; when nobody answers, no. API servers
// of Kubernetes 1.28 on do not ask about pods that the webhook would leave alone (Webhook::Pods).
[[nodiscard]] nlohmann::json NewConfiguration(const Webhook& webhook, const Address& address);

// The JSON patch that brings our address into `found`, whatever else it says staying as it is:
// its rules, selectors and policies are those of the installer. None when nothing differs.
//
// Whom a Service's configuration trusts already stays trusted beside our authority until it
// expires (TrustedToo): other replicas may show certificates of another.
[[nodiscard]] std::optional<nlohmann::json> AddressPatch(const nlohmann::json& found,
                                                         const Webhook& webhook,
                                                         const Address& address,
                                                         Time now);

enum class Registered : std::uint8_t { kMade, kReaddressed, kAsItWas };
// Makes the configuration or brings our address into it.
[[nodiscard]] Result<Registered> Register(const Ask& ask,
                                          const Webhook& webhook,
                                          const Address& address,
                                          Time now);

}  // namespace strata::webhooks
