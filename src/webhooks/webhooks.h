#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "admission/admission.h"
#include "base/clock.h"
#include "base/result.h"
#include "kube/client.h"
#include "obs/log.h"
#include "webhooks/registration.h"
#include "webhooks/webhook.h"

namespace strata::webhooks {

// PEM files that somebody else keeps up to date.
struct CertificateFiles {
  std::string certificate;
  std::string key;
  std::string authority;
};

struct WebhooksOptions {
  std::vector<const Webhook*> webhooks;  // that are served and registered
  std::vector<std::string> scheduler_names = {"volcano"};
  admission::UsedQueues used_queues = admission::UsedQueues::kMayGo;
  std::string host = "127.0.0.1";  // where it listens
  std::uint16_t port = 0;          // 0 takes a free one
  // Where the API server finds it; `url` "" without a service: where it listens.
  Address address;
  std::vector<std::string> hosts;         // that certificates of its own are for
  std::optional<CertificateFiles> files;  // none: it makes and renews them itself
  std::string secret;                     // with a service, where replicas share them
  std::string conf_file;                  // volcano-admission.conf; "" for none
  // At the end: how long it goes on serving while it is not ready, so that API servers hear of that
  // before it is gone; then, how long reviews under way may take.
  Duration delay{0};
  Duration grace = std::chrono::seconds(30);
  std::function<Result<std::string>(const std::string& path)> read;  // files
  std::function<void(const std::string& url)> ready;  // once, when it serves and is registered
};

// Volcano's admission webhooks for a running cluster. Serves reviews, keeps certificates fresh and
// the webhook configurations pointing here, whatever becomes of either.
class Webhooks {
 public:
  // All that it is given must outlive it.
  Webhooks(kube::Client& client, WebhooksOptions options, obs::Log& log, const Clock& clock);
  Webhooks(const Webhooks&) = delete;
  Webhooks& operator=(const Webhooks&) = delete;
  ~Webhooks();

  // Works until it is asked to stop. An error only when it cannot begin: files that are given and
  // cannot be used, an address that is taken.
  [[nodiscard]] Status Run(const std::stop_token& stop);

  // What /metrics shows. From any thread.
  [[nodiscard]] std::string Metrics() const;
  // Whether it has seen the cluster, so that its answers are right.
  [[nodiscard]] bool IsReady() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::webhooks
