#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/transport.h"

namespace strata::net {

// PEM texts; empty means none.
struct ClientTls {
  std::string ca_pem;  // trusted instead of what the system trusts
  std::string certificate_pem;
  std::string key_pem;
  enum class Verify : std::uint8_t { kYes, kNo };
  Verify verify = Verify::kYes;

  friend bool operator==(const ClientTls&, const ClientTls&) = default;
};

struct HttpClientOptions {
  std::string server;  // "https://host:6443", optionally with a path that goes before every other
  ClientTls tls;
  std::string tls_server_name;  // asked for and checked instead of the host of `server`
  std::string proxy;            // "" as the environment says (HTTPS_PROXY, NO_PROXY)
  // Not the name of a tool: an API server answers curl and browsers with twice the bytes.
  std::string user_agent = "strata";
  long max_connections = 100;
};

// A Transport over libcurl: one thread that owns the connections. HTTP/2 where TLS offers it, all
// requests over one connection then; HTTP/1.1 otherwise, a connection per request under way, kept
// for the next. When such a connection turns out to have been closed before a byte of the answer
// came, libcurl sends the request once more by itself. Redirects are not followed. Dead peers are
// noticed within half a minute (TCP keepalive and user timeout). Bodies may come compressed and are
// given plain.
//
// Use two, one for reads and watches and one for writes, so that a storm of writes never delays an
// event.
//
// Destroying it ends what is under way (OnEnd with kCancelled) and runs what was posted; nothing
// may be sent or posted from then on. Not from its own thread.
class HttpClient final : public Transport {
 public:
  // kInternal when libcurl cannot be used, kInvalidArgument for an address that is none.
  [[nodiscard]] static Result<std::unique_ptr<HttpClient>> Start(HttpClientOptions options);
  ~HttpClient() override;

  // For requests sent from now on: certificates that were renewed. From any thread.
  void SetTls(ClientTls tls);

  [[nodiscard]] SteadyTime Now() const override;
  [[nodiscard]] bool OnThread() const override;
  void Post(std::function<void()> task) override;
  TimerId After(Duration delay, std::function<void()> task) override;
  void CancelTimer(TimerId timer) override;
  RequestId Send(ClientRequest request, std::shared_ptr<Receiver> receiver) override;
  void Cancel(RequestId request) override;
  void CloseConnections() override;

 private:
  class Impl;
  explicit HttpClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::net
