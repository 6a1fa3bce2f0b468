#include "net/http_server.h"

#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <utility>
#include <vector>

#include "base/check.h"
#include "net/event_loop_impl.h"
#include "net/file_limit.h"
#include "net/http_connection.h"

namespace strata::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;

constexpr Duration kAcceptAgain = std::chrono::milliseconds(100);
// What a process opens beside its connections: the database, its log, connections to other servers.
constexpr std::size_t kOtherFiles = 256;

// Answers go out at once, and a peer whose machine has gone is found within a minute.
void SetOptions(TcpSocket& socket) {
  const auto set = [&socket](int level, int option, int value) {
    // A socket that refuses one of these works without it.
    (void)setsockopt(socket.native_handle(), level, option, &value, sizeof(value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

Result<std::unique_ptr<asio::ssl::context>> MakeTls(const ServerCertificate& certificate) {
  auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX* const raw = tls->native_handle();
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);  // many connections are idle watches
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(raw, 0);
  error_code error;
  tls->use_certificate_chain(asio::buffer(certificate.certificate_pem), error);
  if (!error) {
    tls->use_private_key(asio::buffer(certificate.key_pem), asio::ssl::context::pem, error);
  }
  if (error) return Fail(Code::kInvalidArgument, "TLS certificate or key: " + error.message());
  return tls;
}

class HttpServerOnLoop final : public HttpServer {
 public:
  HttpServerOnLoop(EventLoop& loop, HttpServerOptions options, RequestHandler handler)
      : loop_(loop), acceptor_(loop.impl().context) {
    hub_->options = std::move(options);
    hub_->handler = std::move(handler);
  }
  HttpServerOnLoop(const HttpServerOnLoop&) = delete;
  HttpServerOnLoop& operator=(const HttpServerOnLoop&) = delete;
  ~HttpServerOnLoop() override {
    *alive_ = false;
    hub_->on_empty = nullptr;
    StopAccepting();
    loop_.Cancel(sweep_);
    for (const auto& connection : Connections()) connection->Close();
    hub_->handler = nullptr;
  }

  Status Open() {
    const HttpServerOptions& options = hub_->options;
    const std::string where = options.host + ":" + std::to_string(options.port);
    error_code error;
    const asio::ip::address address = asio::ip::make_address(options.host, error);
    if (error) return Fail(Code::kInvalidArgument, "listen on " + where + ": not an IP address");
    if (options.certificate) {
      TRY_ASSIGN(tls_, MakeTls(*options.certificate));
    }
    LimitToOpenFiles();
    const tcp::endpoint endpoint(address, options.port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) acceptor_.non_blocking(true, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (error) return Fail(Code::kUnavailable, "listen on " + where + ": " + error.message());
    Accept();
    return {};
  }

  std::uint16_t port() const override { return port_; }

  Status SetCertificate(const ServerCertificate& certificate) override {
    CHECK(tls_ != nullptr);
    TRY_ASSIGN(tls_, MakeTls(certificate));  // a connection holds what it needs of the old one
    return {};
  }

  void Drain(std::function<void()> done) override {
    hub_->draining = true;
    StopAccepting();
    hub_->on_empty = [this, done = std::move(done)] { loop_.Post(done); };
    for (const auto& connection : Connections()) connection->Drain();
    if (hub_->connections.empty() && hub_->on_empty) std::exchange(hub_->on_empty, nullptr)();
  }

 private:
  using Claim = Connection::Claim;

  // A copy: what is done to a connection may remove it.
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> Connections() const {
    return {hub_->connections.begin(), hub_->connections.end()};
  }

  void LimitToOpenFiles() {
    std::size_t& connections = hub_->options.max_connections;
    const std::size_t files = RaiseFileLimit(connections + kOtherFiles);
    connections = std::min(connections, files - std::min(files / 2, kOtherFiles));
  }

  void StopAccepting() {
    error_code ignored;
    acceptor_.close(ignored);
  }

  // Accepts only once somebody waits: when the process has no file left, Linux fails to accept
  // even where nobody does.
  void Accept() {
    acceptor_.async_wait(Acceptor::wait_read, [this, alive = alive_](error_code error) {
      if (!*alive || !acceptor_.is_open()) return;
      TcpSocket socket(loop_.impl().context);
      if (!error) acceptor_.accept(socket, error);
      if (error == asio::error::would_block) return Accept();
      if (error) {
        const bool out_of_files = error == boost::system::errc::too_many_files_open ||
                                  error == boost::system::errc::too_many_files_open_in_system;
        if (out_of_files && CloseLongestWaiting(Claim::kRequest)) return Accept();
        loop_.After(kAcceptAgain, [this, alive] {
          if (*alive && acceptor_.is_open()) Accept();
        });
        return;
      }
      Take(std::move(socket));
      Accept();
    });
  }

  // Closes the connection with the least claim, of equal ones that which has waited longest, and
  // none with a greater claim than `up_to`. False when there is none to close.
  bool CloseLongestWaiting(Claim up_to) {
    std::shared_ptr<Connection> longest;
    for (const auto& connection : hub_->connections) {
      const auto rank = connection->RankForReplacement();
      if (!rank || rank->first > up_to) continue;
      if (longest == nullptr || *rank < *longest->RankForReplacement()) longest = connection;
    }
    if (longest == nullptr) return false;
    longest->Close();
    return true;
  }

  // Whether there is a place for one more.
  bool MakeRoom() {
    const HttpServerOptions& options = hub_->options;
    if (hub_->strangers >= options.max_strangers && !CloseLongestWaiting(Claim::kStranger)) {
      return false;
    }
    return hub_->connections.size() < options.max_connections ||
           CloseLongestWaiting(Claim::kRequest);
  }

  void Take(TcpSocket socket) {
    if (!MakeRoom()) return;  // the socket closes
    SetOptions(socket);
    using OnIo = Connection::OnIo;
    std::unique_ptr<ByteStream<OnIo>> stream;
    if (tls_ != nullptr) {
      stream = std::make_unique<TlsStream<OnIo>>(std::move(socket), *tls_);
    } else {
      stream = std::make_unique<PlainStream<OnIo>>(std::move(socket));
    }
    const auto connection = std::make_shared<Connection>(hub_, std::move(stream));
    hub_->connections.insert(connection);
    connection->Start();
    if (!sweeping_) ScheduleSweep();
  }

  // One timer for all: a deadline of its own would cost every request more than the sweep does.
  void ScheduleSweep() {
    const HttpServerOptions& options = hub_->options;
    const Duration shortest = std::min({options.idle_timeout,
                                        options.stall_timeout,
                                        options.request_timeout,
                                        options.stranger_timeout});
    const Duration period =
        std::clamp(shortest / 4, Duration(5), Duration(std::chrono::seconds(1)));
    sweeping_ = true;
    sweep_ = loop_.After(period, [this] {
      const auto now = std::chrono::steady_clock::now();
      for (const auto& connection : Connections()) connection->CloseIfLate(now);
      sweeping_ = false;
      if (!hub_->connections.empty()) ScheduleSweep();
    });
  }

  EventLoop& loop_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::shared_ptr<ConnectionHub> hub_ = std::make_shared<ConnectionHub>();
  std::unique_ptr<asio::ssl::context> tls_;
  Acceptor acceptor_;
  std::uint16_t port_ = 0;
  bool sweeping_ = false;
  TimerId sweep_{};
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(EventLoop& loop,
                                                       HttpServerOptions options,
                                                       RequestHandler handler) {
  auto server = std::make_unique<HttpServerOnLoop>(loop, std::move(options), std::move(handler));
  TRY(server->Open());
  return Result<std::unique_ptr<HttpServer>>(std::move(server));
}

}  // namespace strata::net
