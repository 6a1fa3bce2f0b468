#include <openssl/rand.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "apiserver/api_server.h"
#include "apiserver/loop_timers.h"
#include "apiserver/request/origin_gate.h"
#include "apiserver/request/token_gate.h"
#include "apiserver/store/object_store_factory.h"
#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/kubeconfig_file.h"
#include "apps/listen_address.h"
#include "base/check.h"
#include "net/certificate.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "store/journal.h"

namespace strata {
namespace {

constexpr const char* kApiserverFooter = R"(
Prints "ready URL kubeconfig=FILE" once it serves, and ends cleanly on SIGINT and SIGTERM.

Examples:
  strata apiserver                              in memory, on a free port of 127.0.0.1
  strata apiserver --data-dir ~/strata-data --listen 127.0.0.1:8443
  kubectl --kubeconfig ~/.local/state/strata/kubeconfig get nodes)";

// How long clients have to take their last answers.
constexpr Duration kDrainTime = std::chrono::seconds(2);

class SystemClock final : public Clock {
 public:
  Time Now() const override {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  }
};

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

// Everything that lives while the server does, in the order in which it depends on each other.
class Service {
 public:
  explicit Service(const ServerFlags& flags) : flags_(flags) {}

  Status Run() {
    TRY(Open());
    std::signal(SIGPIPE, SIG_IGN);
    loop_.OnSignals({SIGINT, SIGTERM}, [this] { Shutdown(); });
    store_->WhenDurable([this](const Status& born) {
      outcome_ = born ? Announce() : born;
      if (!outcome_) loop_.Stop();
    });
    loop_.Run();
    return outcome_;
  }

 private:
  Status Open() {
    TRY_ASSIGN(kubeconfig_,
               flags_.kubeconfig.empty() ? DefaultKubeconfigPath()
                                         : Result<std::string>(flags_.kubeconfig));
    TRY_ASSIGN(address_, ParseListenAddress(flags_.listen));
    TRY(OpenStore());
    TRY(Listen());
    apiserver::ApiServerOptions options;
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

  Status Announce() {
    ServerAccess access{.url = "http://" + address_.UrlHost(), .ca_pem = {}, .token = {}};
    if (!flags_.plain_http) {
      access = {.url = "https://" + address_.UrlHost(),
                .ca_pem = trust_.authority.certificate_pem,
                .token = trust_.token};
    }
    TRY(WritePrivateFile(kubeconfig_, RenderKubeconfig(access)));
    fmt::print("ready {} kubeconfig={}\n", access.url, kubeconfig_);
    std::fflush(stdout);
    return {};
  }

  void Shutdown() {
    if (std::exchange(stopping_, true)) return loop_.Stop();  // asked twice: at once
    server_->Drain([this] { loop_.Stop(); });
    loop_.After(kDrainTime, [this] { loop_.Stop(); });
  }

  const ServerFlags& flags_;
  SystemClock clock_;
  SystemRandom random_;
  std::string kubeconfig_;
  ListenAddress address_;
  Trust trust_;
  Status outcome_;
  bool stopping_ = false;
  net::EventLoop loop_;
  apiserver::LoopTimers timers_{loop_};
  std::unique_ptr<apiserver::ObjectStore> store_;
  std::optional<apiserver::ApiServer> api_;
  std::unique_ptr<net::HttpServer> server_;
};

int RunApiserver(const ServerFlags& flags) {
  if (flags.plain_http) {
    fmt::print(stderr,
               "plain HTTP without a token: every user of this machine may do everything\n");
  }
  const Status status = Service(flags).Run();
  if (status) return 0;
  fmt::print(stderr, "{}\n", status.error().message);
  return 1;
}

}  // namespace

void AddApiserverCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "apiserver", "Serve the Kubernetes API from this machine, with Volcano's kinds");
  command.footer(kApiserverFooter);
  const auto flags = std::make_shared<ServerFlags>();
  AddServerFlags(command, *flags);
  command.callback([flags, &run] {
    CheckServerFlags(*flags);
    run = [flags] { return RunApiserver(*flags); };
  });
}

}  // namespace strata
