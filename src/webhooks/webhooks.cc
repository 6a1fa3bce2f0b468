#include "webhooks/webhooks.h"

#include <algorithm>
#include <stop_token>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/mutex.h"
#include "kube/mailbox.h"
#include "net/certificate.h"
#include "webhooks/ask.h"
#include "webhooks/certificates.h"
#include "webhooks/review_server.h"
#include "webhooks/shared_certificates.h"

namespace strata::webhooks {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How often files are looked at.
constexpr Duration kFilesEvery = seconds(2);
// How often the Secret and the webhook configurations are looked at: somebody may have changed
// them.
constexpr Duration kClusterEvery = seconds(60);
// How soon it is tried again.
constexpr Duration kMinRetryDelay = milliseconds(200);
constexpr Duration kMaxPatience = seconds(10);

// A server that listens on every address is reached by the loopback one.
std::string UrlOf(const std::string& host, std::uint16_t port) {
  if (host == "0.0.0.0") return fmt::format("https://127.0.0.1:{}", port);
  if (host.find(':') == std::string::npos) return fmt::format("https://{}:{}", host, port);
  return fmt::format("https://[{}]:{}", host == "::" ? "::1" : host, port);
}

}  // namespace

class Webhooks::Impl {
 public:
  Impl(kube::Client& client, WebhooksOptions options, obs::Log& log, const Clock& clock)
      : client_(client), options_(std::move(options)), log_(log), clock_(clock) {}

  Status Run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { mailbox_.Wake(); });
    ask_ = AskUntil(client_, stop);
    TRY(Begin(stop));
    while (!stop.stop_requested()) Sleep(Look(), stop);
    if (server_ != nullptr) {
      server_->BeginToEnd();
      // A replica that is not ready any more is still asked until every API server has noticed.
      std::this_thread::sleep_for(options_.delay);
      server_->Drain(options_.grace);
    }
    const MutexLock lock(mutex_);
    server_.reset();
    return {};
  }

  std::string Metrics() const {
    const MutexLock lock(mutex_);
    if (server_ == nullptr) return "";
    obs::Families families = {server_->Metrics()};
    if (const auto facts = net::ReadCertificate(shown_.server.certificate_pem)) {
      const auto end = std::chrono::duration_cast<seconds>(facts->not_after.time_since_epoch());
      auto& family = families.emplace_back(
          obs::GaugeFamily("strata_webhook_certificate_expiry_timestamp_seconds",
                           "When the serving certificate expires."));
      obs::AddSample(family, {}, static_cast<double>(end.count()));
    }
    return obs::MetricsText(families);
  }

  bool IsReady() const {
    const MutexLock lock(mutex_);
    return server_ != nullptr && server_->IsReady();
  }

 private:
  // Reads what is given, and starts to serve. An API server that is needed for the certificates
  // and away is waited for.
  Status Begin(const std::stop_token& stop) {
    TRY_ASSIGN(AdmissionConf conf, ReadConf());
    Result<Certificates> first = NextCertificates();
    while (!first && !options_.files && !stop.stop_requested()) {
      Sleep(LogAndBackOff(first.error()), stop);
      first = NextCertificates();
    }
    if (!first && stop.stop_requested()) return {};
    TRY_ASSIGN(Certificates certificates, std::move(first));
    ReviewServerOptions serving;
    serving.webhooks = options_.webhooks;
    serving.scheduler_names = options_.scheduler_names;
    serving.used_queues = options_.used_queues;
    serving.host = options_.host;
    serving.port = options_.port;
    serving.certificate = certificates.server;
    TRY_ASSIGN(auto server, ReviewServer::Start(client_, std::move(serving), log_, clock_));
    server->SetConf(std::move(conf));
    listening_ = UrlOf(options_.host, server->port());
    if (options_.address.service_name.empty() && options_.address.url.empty()) {
      options_.address.url = listening_;
    }
    log_.Info("serving reviews", {{"url", listening_}});
    const MutexLock lock(mutex_);
    server_ = std::move(server);
    shown_ = std::move(certificates);
    return {};
  }

  // One look at all that may have changed; how long until the next.
  Duration Look() {
    LookAtConf();
    if (!server_->IsSynced()) return kMinRetryDelay;
    const bool due = !registered_ || since_cluster_ >= kClusterEvery;
    if (!due && !options_.files) return kFilesEvery;
    if (const Status settled = Settle(due); !settled) return LogAndBackOff(settled.error());
    patience_ = kMinRetryDelay;
    complaint_.clear();
    return kFilesEvery;
  }

  // First the API server is told whom to trust, then that is shown, whatever it says: a
  // configuration that cannot be written must not keep a certificate until it has expired.
  Status Settle(bool due) {
    TRY_ASSIGN(Certificates next, NextCertificates());
    const bool changed = !(next == shown_);
    if (!due && !changed) return {};
    const Status registered = RegisterAll(next.authority_pem);
    if (changed) {
      server_->SetCertificate(next.server);
      log_.Info("certificate changed");
      const MutexLock lock(mutex_);
      shown_ = std::move(next);
    }
    registered_ = registered.has_value();
    TRY(registered);
    since_cluster_ = Duration(0);
    if (options_.ready) std::exchange(options_.ready, nullptr)(listening_);
    return {};
  }

  Status RegisterAll(const std::string& authority_pem) {
    Address address = options_.address;
    address.scheduler_names = options_.scheduler_names;
    address.authority_pem = authority_pem;
    Status outcome;  // one that cannot be written must not stop the others
    for (const Webhook* webhook : options_.webhooks) {
      const std::string name = ConfigurationName(*webhook, address);
      Result<Registered> done = Register(ask_, *webhook, address, clock_.Now());
      if (!done) {
        if (!outcome) continue;
        outcome =
            tl::unexpected<Error>(std::move(done).error().Context("webhook configuration " + name));
      } else if (*done != Registered::kAsItWas) {
        log_.Info("webhook registered", {{"configuration", name}});
      }
    }
    return outcome;
  }

  Result<Certificates> NextCertificates() {
    if (options_.files) return ReadFiles();
    const Time now = clock_.Now();
    if (!options_.address.service_name.empty()) {
      return ShareCertificates(
          ask_, {options_.address.service_namespace, options_.secret}, options_.hosts, shown_, now);
    }
    // Alone: nobody else needs them, nor does a later process.
    if (AreGood(shown_, options_.hosts, now)) return shown_;
    return Renew(shown_, options_.hosts, now);
  }

  Result<std::string> ReadFile(const std::string& path) const {
    auto text = options_.read(path);
    if (!text) return tl::unexpected<Error>(std::move(text).error().Context(path));
    return text;
  }

  Result<Certificates> ReadFiles() const {
    Certificates certificates;
    TRY_ASSIGN(certificates.server.certificate_pem, ReadFile(options_.files->certificate));
    TRY_ASSIGN(certificates.server.key_pem, ReadFile(options_.files->key));
    TRY_ASSIGN(certificates.authority_pem, ReadFile(options_.files->authority));
    return certificates;
  }

  Result<AdmissionConf> ReadConf() {
    if (options_.conf_file.empty()) return AdmissionConf();
    TRY_ASSIGN(conf_text_, ReadFile(options_.conf_file));
    auto conf = ParseAdmissionConf(conf_text_);
    if (!conf) {
      return tl::unexpected<Error>(std::move(conf).error().Context(options_.conf_file));
    }
    return conf;
  }

  void LookAtConf() {
    if (options_.conf_file.empty()) return;
    const Result<std::string> text = ReadFile(options_.conf_file);
    // One that is just being replaced comes back.
    if (!text || *text == conf_text_) return;
    auto conf = ReadConf();
    if (!conf) {
      log_.Error("invalid configuration, keeping the previous one",
                 {{"err", conf.error().message}});
      return;
    }
    server_->SetConf(*std::move(conf));
    log_.Info("configuration changed", {{"file", options_.conf_file}});
  }

  // Tells of each trouble once, and says when to try again.
  Duration LogAndBackOff(const Error& error) {
    if (error.message != complaint_) log_.Warning("failed, retrying", {{"err", error.message}});
    complaint_ = error.message;
    patience_ = std::min(patience_ * 2, kMaxPatience);
    return patience_;
  }

  void Sleep(Duration time, const std::stop_token& stop) {
    if (!stop.stop_requested()) mailbox_.Serve(time);
    since_cluster_ += time;
  }

  kube::Client& client_;
  WebhooksOptions options_;
  obs::Log& log_;
  const Clock& clock_;
  Ask ask_;
  std::string conf_text_;
  std::string listening_;
  std::string complaint_;
  bool registered_ = false;
  Duration since_cluster_{0};
  Duration patience_ = kMinRetryDelay;
  kube::Mailbox mailbox_;

  mutable Mutex mutex_;  // guards the two against readers on other threads
  std::unique_ptr<ReviewServer> server_;
  Certificates shown_;
};

Webhooks::Webhooks(kube::Client& client, WebhooksOptions options, obs::Log& log, const Clock& clock)
    : impl_(std::make_unique<Impl>(client, std::move(options), log, clock)) {}

Webhooks::~Webhooks() = default;

Status Webhooks::Run(const std::stop_token& stop) {
  return impl_->Run(stop);
}

std::string Webhooks::Metrics() const {
  return impl_->Metrics();
}

bool Webhooks::IsReady() const {
  return impl_->IsReady();
}

}  // namespace strata::webhooks
