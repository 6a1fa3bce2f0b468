#include "kube/connection.h"

#include <utility>

#include "base/mutex.h"
#include "kube/exec_plugin.h"
#include "kube/token_credentials.h"
#include "net/http_client.h"

namespace strata::kube {
namespace {

constexpr Duration kCertificatesAgain = std::chrono::minutes(1);

class RealClock final : public Clock {
 public:
  [[nodiscard]] Time Now() const override {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  }
};

Result<net::ClientTls> ReadTls(const ConnectionConfig& config, const Surroundings& outside) {
  net::ClientTls tls;
  TRY_ASSIGN(tls.ca_pem, ReadText(config.cluster.ca, "certificate-authority", outside));
  TRY_ASSIGN(tls.certificate_pem, ReadText(config.user.certificate, "client-certificate", outside));
  TRY_ASSIGN(tls.key_pem, ReadText(config.user.key, "client-key", outside));
  if (config.cluster.skip_tls_verify) tls.verify = net::ClientTls::Verify::kNo;
  return tls;
}

}  // namespace

// The certificates in use, and where changes of them go. Outlives the transports in the hands of a
// login program under way.
class SharedTls {
 public:
  explicit SharedTls(net::ClientTls tls) : tls_(std::move(tls)) {}

  void Connect(net::HttpClient* reads, net::HttpClient* writes) {
    const MutexLock lock(mutex_);
    reads_ = reads;
    writes_ = writes;
  }

  void UseAnswer(const ExecAnswer& answer) {
    if (answer.certificate_pem.empty()) return;
    const MutexLock lock(mutex_);
    net::ClientTls tls = tls_;
    tls.certificate_pem = answer.certificate_pem;
    tls.key_pem = answer.key_pem;
    Use(std::move(tls));
  }

  enum class OwnCertificate : std::uint8_t { kOfFiles, kAsBefore };
  void UseFiles(net::ClientTls tls, OwnCertificate own) {
    const MutexLock lock(mutex_);
    if (own == OwnCertificate::kAsBefore) {
      tls.certificate_pem = tls_.certificate_pem;
      tls.key_pem = tls_.key_pem;
    }
    Use(std::move(tls));
  }

 private:
  void Use(net::ClientTls tls) REQUIRES(mutex_) {
    if (tls == tls_ || reads_ == nullptr) return;
    tls_ = std::move(tls);
    reads_->SetTls(tls_);
    writes_->SetTls(tls_);
  }

  Mutex mutex_;
  net::ClientTls tls_ GUARDED_BY(mutex_);
  net::HttpClient* reads_ GUARDED_BY(mutex_) = nullptr;
  net::HttpClient* writes_ GUARDED_BY(mutex_) = nullptr;
};

const Clock& SystemClock() {
  static const RealClock clock;
  return clock;
}

class Connection::Impl {
 public:
  Impl(ConnectionConfig config, Surroundings outside)
      : config_(std::move(config)), outside_(std::move(outside)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    client_.reset();
    if (tls_ != nullptr) tls_->Connect(nullptr, nullptr);
  }

  Status Open(const ConnectionOptions& options) {
    net::HttpClientOptions http;
    TRY_ASSIGN(http.tls, ReadTls(config_, outside_));
    http.server = config_.cluster.server;
    http.tls_server_name = config_.cluster.tls_server_name;
    http.proxy = config_.cluster.proxy;
    http.user_agent = options.user_agent;
    TRY_ASSIGN(reads_, net::HttpClient::Start(http));
    TRY_ASSIGN(writes_, net::HttpClient::Start(http));
    tls_ = std::make_shared<SharedTls>(http.tls);
    tls_->Connect(reads_.get(), writes_.get());
    ClientOptions client_options;
    client_options.write_rate = options.write_rate;
    TRY_ASSIGN(client_options.credentials, MakeCredentials(http.tls.ca_pem));
    client_ = std::make_unique<Client>(*reads_, *writes_, std::move(client_options));
    const bool files = !config_.cluster.ca.file.empty() || !config_.user.certificate.file.empty();
    if (files) reads_->Post([this] { ReadCertificatesLater(); });
    return {};
  }

  [[nodiscard]] Client& client() { return *client_; }
  [[nodiscard]] const ConnectionConfig& config() const { return config_; }

 private:
  Result<std::shared_ptr<Credentials>> MakeCredentials(const std::string& ca_pem) {
    const UserConfig& user = config_.user;
    if (user.exec) return RunExec(*user.exec, ExecInfo(*user.exec, config_.cluster, ca_pem));
    if (!user.token.file.empty()) {
      auto file = TokenFile::Open(
          user.token.file, outside_, [transport = reads_.get()] { return transport->Now(); });
      if (!file) return tl::unexpected(std::move(file).error().Context("tokenFile"));
      return std::shared_ptr<Credentials>(std::move(*file));
    }
    if (!user.token.text.empty()) {
      return std::shared_ptr<Credentials>(
          std::make_shared<FixedCredentials>("Bearer " + user.token.text));
    }
    if (!user.username.empty()) {
      return std::shared_ptr<Credentials>(
          std::make_shared<FixedCredentials>(BasicAuthorization(user.username, user.password)));
    }
    return std::shared_ptr<Credentials>();
  }

  Result<std::shared_ptr<Credentials>> RunExec(const ExecConfig& exec, const std::string& info) {
    auto started = ExecCredentials::Start(
        [exec, info](const os::Interrupt& interrupt) {
          return RunExecPlugin(exec, info, interrupt);
        },
        [tls = tls_](const ExecAnswer& answer) { tls->UseAnswer(answer); },
        SystemClock());
    if (!started) return tl::unexpected(std::move(started).error().Context("exec"));
    return std::shared_ptr<Credentials>(std::move(*started));
  }

  // On the thread of `reads_`, which ends before this does.
  void ReadCertificatesLater() {
    reads_->After(kCertificatesAgain, [this] {
      UseFiles();
      ReadCertificatesLater();
    });
  }

  void UseFiles() {
    Result<net::ClientTls> tls = ReadTls(config_, outside_);
    if (!tls) return;  // half written: the next time
    using Own = SharedTls::OwnCertificate;
    tls_->UseFiles(std::move(*tls),
                   config_.user.certificate.file.empty() ? Own::kAsBefore : Own::kOfFiles);
  }

  const ConnectionConfig config_;
  const Surroundings outside_;
  std::shared_ptr<SharedTls> tls_;
  std::unique_ptr<net::HttpClient> reads_;
  std::unique_ptr<net::HttpClient> writes_;
  std::unique_ptr<Client> client_;
};

Result<std::unique_ptr<Connection>> Connection::Open(const ConnectionConfig& config,
                                                     const ConnectionOptions& options,
                                                     const Surroundings& outside) {
  auto impl = std::make_unique<Impl>(config, outside);
  Status opened = impl->Open(options);
  if (!opened) return tl::unexpected(std::move(opened).error().Context(config.origin));
  return std::unique_ptr<Connection>(new Connection(std::move(impl)));
}

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::~Connection() = default;
Client& Connection::client() {
  return impl_->client();
}
const ConnectionConfig& Connection::config() const {
  return impl_->config();
}

}  // namespace strata::kube
