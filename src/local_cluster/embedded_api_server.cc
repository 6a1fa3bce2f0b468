#include "local_cluster/embedded_api_server.h"

#include <openssl/rand.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "apiserver/loop_timers.h"
#include "apiserver/request/audit.h"
#include "apiserver/request/origin_gate.h"
#include "apiserver/request/token_gate.h"
#include "apiserver/store/object_store_factory.h"
#include "base/check.h"
#include "component/listen_address.h"
#include "kube/connection.h"
#include "net/certificate.h"
#include "net/http_server.h"
#include "os/append_file.h"
#include "os/private_file.h"
#include "store/journal.h"

namespace strata {
namespace {

// How long clients have to read their last responses.
constexpr Duration kDrainTime = std::chrono::seconds(2);

constexpr int kInterrupted = 130;  // the exit status that shells report for SIGINT

template <typename Bytes>
void FillWithRandomBytes(Bytes& bytes) {
  CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()),
                   static_cast<int>(bytes.size())) == 1);
}

class SystemRandom final : public apiserver::RandomSource {
 public:
  std::uint64_t Next() override {
    std::array<unsigned char, sizeof(std::uint64_t)> bytes{};
    FillWithRandomBytes(bytes);
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof(number));
    return number;
  }
};

// The certificate authority that clients trust, and the token that they send.
struct Trust {
  net::CertificateAuthority authority;
  std::string token;
};

Result<Trust> MakeTrust(Time now) {
  Trust trust;
  TRY_ASSIGN(trust.authority, net::MakeAuthority("strata", now));
  std::array<unsigned char, 32> secret{};
  FillWithRandomBytes(secret);
  for (const unsigned char byte : secret) trust.token += fmt::format("{:02x}", byte);
  return trust;
}

// The authority and token stored in the data directory; makes and stores new ones if it has none.
// `renew`: makes them in any case.
Result<Trust> LoadOrMakeTrust(store::Journal& journal, bool renew, Time now) {
  TRY_ASSIGN(const std::optional<std::string> certificate, journal.Setting("ca-certificate"));
  TRY_ASSIGN(const std::optional<std::string> key, journal.Setting("ca-key"));
  TRY_ASSIGN(const std::optional<std::string> token, journal.Setting("token"));
  if (!renew && certificate && key && token) {
    return Trust{.authority = {.certificate_pem = *certificate, .key_pem = *key}, .token = *token};
  }
  TRY_ASSIGN(Trust trust, MakeTrust(now));
  TRY(journal.SetSettings({{"ca-certificate", trust.authority.certificate_pem},
                           {"ca-key", trust.authority.key_pem},
                           {"token", trust.token}}));
  return trust;
}

}  // namespace

// Members are declared in the order of their dependencies: each uses only those above it.
class EmbeddedApiServer::Impl {
 public:
  explicit Impl(const ServerSettings& settings) : settings_(settings) {}

  Status Run(apiserver::ApiServerOptions options, Hooks hooks) {
    hooks_ = std::move(hooks);
    TRY(Open(std::move(options)));
    std::signal(SIGPIPE, SIG_IGN);
    loop_.OnSignals({SIGINT, SIGTERM}, [this] { TakeSignal(); });
    store_->WhenDurable([this](const Status& durable) {
      const Status begun = durable ? Begin() : durable;
      if (begun) return hooks_.serving();
      outcome_ = begun;
      loop_.Stop();
    });
    loop_.Run();
    return outcome_;
  }

  void End(Status outcome) {
    loop_.Post([this, outcome = std::move(outcome)] {
      if (outcome_) outcome_ = outcome;
      Drain();
    });
  }

  net::EventLoop& loop() { return loop_; }
  const ServerAccess& access() const { return access_; }
  const std::string& kubeconfig() const { return kubeconfig_; }

 private:
  Status Open(apiserver::ApiServerOptions options) {
    TRY_ASSIGN(kubeconfig_,
               settings_.kubeconfig.empty() ? DefaultKubeconfigPath()
                                            : Result<std::string>(settings_.kubeconfig));
    TRY_ASSIGN(address_, ParseListenAddress(settings_.listen));
    if (!settings_.audit_log.empty()) {
      TRY_ASSIGN(os::AppendFile file, os::AppendFile::Open(settings_.audit_log));
      audit_log_.emplace(std::move(file));
    }
    TRY(OpenStore());
    TRY(Listen());
    options.address = address_.UrlHost();
    api_.emplace(*store_, timers_, clock_, random_, std::move(options));
    return api_->Start();
  }

  Status OpenStore() {
    if (settings_.data_dir.empty()) {
      store_ = apiserver::MakeMemoryObjectStore();
      TRY_ASSIGN(trust_, MakeTrust(clock_.Now()));
      return {};
    }
    TRY_ASSIGN(std::unique_ptr<store::Journal> journal, store::OpenJournal(settings_.data_dir));
    TRY_ASSIGN(trust_, LoadOrMakeTrust(*journal, settings_.new_credentials, clock_.Now()));
    TRY_ASSIGN(store_, apiserver::OpenObjectStore(loop_, std::move(journal), clock_.Now()));
    return {};
  }

  Status Listen() {
    net::HttpServerOptions options;
    options.host = address_.host;
    options.port = address_.port;
    options.refusal = apiserver::ApiServer::Refusal;
    net::RequestHandler handler = [this](std::shared_ptr<net::Exchange> exchange) {
      api_->Handle(audit_log_ ? Logged(std::move(exchange)) : std::move(exchange));
    };
    if (settings_.plain_http) {
      using apiserver::Reach;
      options.check_head =
          apiserver::RefuseForeignPages(address_.IsLoopback() ? Reach::kLoopback : Reach::kNetwork);
    } else {
      TRY_ASSIGN(
          options.certificate,
          net::IssueCertificate(trust_.authority, address_.CertificateHosts(), clock_.Now()));
      options.check_head = apiserver::RequireToken(trust_.token);
    }
    TRY_ASSIGN(server_, net::HttpServer::Listen(loop_, std::move(options), std::move(handler)));
    address_.port = server_->port();
    return {};
  }

  std::shared_ptr<net::Exchange> Logged(std::shared_ptr<net::Exchange> exchange) {
    return apiserver::Audited(std::move(exchange), clock_, [this](const std::string& line) {
      const Status written = audit_log_->AppendLine(line);
      if (!written && !audit_failed_) {
        fmt::print(stderr, "audit log: {}\n", written.error().message);
      }
      audit_failed_ = !written;
    });
  }

  Status Begin() {
    access_.url = "http://" + address_.UrlHost();
    if (!settings_.plain_http) {
      access_ = {.url = "https://" + address_.UrlHost(),
                 .ca_pem = trust_.authority.certificate_pem,
                 .token = trust_.token};
    }
    return os::WritePrivateFile(kubeconfig_, RenderKubeconfig(access_));
  }

  void TakeSignal() {
    if (std::exchange(interrupted_, true)) {  // the second signal: end at once
      // The parts of `up` would wait for this server forever. The journal survives this.
      if (hooks_.interrupted) std::_Exit(kInterrupted);
      return loop_.Stop();
    }
    hooks_.interrupted ? hooks_.interrupted() : Drain();
  }

  void Drain() {
    if (std::exchange(draining_, true)) return;
    server_->Drain([this] { loop_.Stop(); });
    loop_.After(kDrainTime, [this] { loop_.Stop(); });
  }

  const ServerSettings& settings_;
  Hooks hooks_;
  const Clock& clock_ = kube::SystemClock();
  SystemRandom random_;
  std::string kubeconfig_;
  ListenAddress address_;
  Trust trust_;
  ServerAccess access_;
  Status outcome_;
  bool interrupted_ = false;
  bool draining_ = false;
  std::optional<os::AppendFile> audit_log_;
  bool audit_failed_ = false;  // the last line was not written, which was told
  net::EventLoop loop_;
  apiserver::LoopTimers timers_{loop_};
  std::unique_ptr<apiserver::ObjectStore> store_;
  std::optional<apiserver::ApiServer> api_;
  std::unique_ptr<net::HttpServer> server_;
};

EmbeddedApiServer::EmbeddedApiServer(const ServerSettings& settings)
    : impl_(std::make_unique<Impl>(settings)) {}
EmbeddedApiServer::~EmbeddedApiServer() = default;

Status EmbeddedApiServer::Run(apiserver::ApiServerOptions options, Hooks hooks) {
  return impl_->Run(std::move(options), std::move(hooks));
}
void EmbeddedApiServer::End(Status outcome) {
  impl_->End(std::move(outcome));
}
net::EventLoop& EmbeddedApiServer::loop() {
  return impl_->loop();
}
const ServerAccess& EmbeddedApiServer::access() const {
  return impl_->access();
}
const std::string& EmbeddedApiServer::kubeconfig() const {
  return impl_->kubeconfig();
}

void EmbeddedApiServer::PrintReady() const {
  fmt::print("ready {} kubeconfig={}\n", access().url, kubeconfig());
  std::fflush(stdout);
}

}  // namespace strata
