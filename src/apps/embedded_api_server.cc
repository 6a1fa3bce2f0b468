#include "apps/embedded_api_server.h"

#include <openssl/rand.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apiserver/loop_timers.h"
#include "apiserver/request/origin_gate.h"
#include "apiserver/request/token_gate.h"
#include "apiserver/store/object_store_factory.h"
#include "apps/listen_address.h"
#include "base/check.h"
#include "kube/connection.h"
#include "net/certificate.h"
#include "net/http_server.h"
#include "store/journal.h"

namespace strata {
namespace {

// How long clients have to take their last answers.
constexpr Duration kDrainTime = std::chrono::seconds(2);

constexpr int kInterrupted = 130;  // what a shell says of a process that SIGINT ended

template <typename Bytes>
void FillRandomly(Bytes& bytes) {
  CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()),
                   static_cast<int>(bytes.size())) == 1);
}

class SystemRandom final : public apiserver::RandomSource {
 public:
  std::uint64_t Next() override {
    std::array<unsigned char, sizeof(std::uint64_t)> bytes{};
    FillRandomly(bytes);
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof(number));
    return number;
  }
};

// What proves the server to its clients, and them to it.
struct Trust {
  net::CertificateAuthority authority;
  std::string token;
};

Result<Trust> MakeTrust(Time now) {
  Trust trust;
  TRY_ASSIGN(trust.authority, net::MakeAuthority("strata", now));
  std::array<unsigned char, 32> secret{};
  FillRandomly(secret);
  for (const unsigned char byte : secret) trust.token += fmt::format("{:02x}", byte);
  return trust;
}

// That of the folder; a new one when it has none.
Result<Trust> KeptTrust(store::Journal& journal, Time now) {
  TRY_ASSIGN(const std::optional<std::string> certificate, journal.Setting("ca-certificate"));
  TRY_ASSIGN(const std::optional<std::string> key, journal.Setting("ca-key"));
  TRY_ASSIGN(const std::optional<std::string> token, journal.Setting("token"));
  if (certificate && key && token) {
    return Trust{.authority = {.certificate_pem = *certificate, .key_pem = *key}, .token = *token};
  }
  TRY_ASSIGN(Trust trust, MakeTrust(now));
  TRY(journal.SetSettings({{"ca-certificate", trust.authority.certificate_pem},
                           {"ca-key", trust.authority.key_pem},
                           {"token", trust.token}}));
  return trust;
}

}  // namespace

// Everything that lives while the server does, in the order in which it depends on each other.
class EmbeddedApiServer::Impl {
 public:
  explicit Impl(const ServerFlags& flags) : flags_(flags) {}

  Status Run(apiserver::ApiServerOptions options, Hooks hooks) {
    hooks_ = std::move(hooks);
    TRY(Open(std::move(options)));
    std::signal(SIGPIPE, SIG_IGN);
    loop_.OnSignals({SIGINT, SIGTERM}, [this] { TakeSignal(); });
    store_->WhenDurable([this](const Status& born) {
      const Status begun = born ? Begin() : born;
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
               flags_.kubeconfig.empty() ? DefaultKubeconfigPath()
                                         : Result<std::string>(flags_.kubeconfig));
    TRY_ASSIGN(address_, ParseListenAddress(flags_.listen));
    TRY(OpenStore());
    TRY(Listen());
    options.address = address_.UrlHost();
    api_.emplace(*store_, timers_, clock_, random_, std::move(options));
    return api_->Start();
  }

  Status OpenStore() {
    if (flags_.data_dir.empty()) {
      store_ = apiserver::MakeMemoryObjectStore();
      TRY_ASSIGN(trust_, MakeTrust(clock_.Now()));
      return {};
    }
    TRY_ASSIGN(std::unique_ptr<store::Journal> journal, store::OpenJournal(flags_.data_dir));
    TRY_ASSIGN(trust_, KeptTrust(*journal, clock_.Now()));
    TRY_ASSIGN(store_, apiserver::OpenObjectStore(loop_, std::move(journal)));
    return {};
  }

  Status Listen() {
    net::HttpServerOptions options;
    options.host = address_.host;
    options.port = address_.port;
    options.refusal = apiserver::ApiServer::Refusal;
    net::RequestHandler handler = [this](std::shared_ptr<net::Exchange> exchange) {
      api_->Handle(std::move(exchange));
    };
    if (flags_.plain_http) {
      using apiserver::Reach;
      handler = apiserver::RefuseForeignPages(
          address_.IsLoopback() ? Reach::kLoopback : Reach::kNetwork, std::move(handler));
    } else {
      TRY_ASSIGN(
          options.certificate,
          net::IssueCertificate(trust_.authority, address_.CertificateHosts(), clock_.Now()));
      handler = apiserver::RequireToken(trust_.token, std::move(handler));
    }
    TRY_ASSIGN(server_, net::HttpServer::Listen(loop_, std::move(options), std::move(handler)));
    address_.port = server_->port();
    return {};
  }

  Status Begin() {
    access_.url = "http://" + address_.UrlHost();
    if (!flags_.plain_http) {
      access_ = {.url = "https://" + address_.UrlHost(),
                 .ca_pem = trust_.authority.certificate_pem,
                 .token = trust_.token};
    }
    return WritePrivateFile(kubeconfig_, RenderKubeconfig(access_));
  }

  void TakeSignal() {
    if (std::exchange(interrupted_, true)) {  // asked twice: at once
      // Parts that wait for this server would wait on. The journal survives any end.
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

  const ServerFlags& flags_;
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
  net::EventLoop loop_;
  apiserver::LoopTimers timers_{loop_};
  std::unique_ptr<apiserver::ObjectStore> store_;
  std::optional<apiserver::ApiServer> api_;
  std::unique_ptr<net::HttpServer> server_;
};

EmbeddedApiServer::EmbeddedApiServer(const ServerFlags& flags)
    : impl_(std::make_unique<Impl>(flags)) {}
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
