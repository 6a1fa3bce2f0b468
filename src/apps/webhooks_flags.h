#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/component_flags.h"
#include "component/listen_address.h"
#include "webhooks/webhooks.h"

// What the flags of `strata webhooks` mean together. Pure.
namespace strata {

struct WebhooksFlags {
  ComponentFlags common;
  std::string listen;  // "" for the two below
  std::string listen_host;
  std::optional<int> port;
  std::string service;  // "NAMESPACE/NAME"
  std::string enabled{webhooks::kUsualWebhooks};
  std::string delay;  // "" for 5s with a Service, where requests may go to another replica, else 0s
  std::string grace = "30s";
  bool keep_used_queues = false;
  webhooks::CertificateFiles files;
  webhooks::WebhooksOptions options;
};

// Completes `flags.options` from flags that depend on each other. kInvalidArgument, "FLAG: ...",
// when flags contradict each other.
[[nodiscard]] Status CompleteFlags(WebhooksFlags& flags);

// Where to listen: with a Service on all addresses, port 8443; without one on a free port of
// 127.0.0.1.
[[nodiscard]] ListenAddress WhereToListen(const WebhooksFlags& flags);

// The hosts that the certificate names; the one that the API server connects to comes first.
[[nodiscard]] std::vector<std::string> CertificateHosts(const webhooks::Address& address,
                                                        const ListenAddress& where);

// "x-admission-secret" for "x-admission-service", as Volcano names its Secret.
[[nodiscard]] std::string SecretOf(std::string_view service);

// Checks of single flags: what is wrong, "" when nothing is.
[[nodiscard]] std::string CheckUrl(const std::string& text);  // https://HOST:PORT

}  // namespace strata
