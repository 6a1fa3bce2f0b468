#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/event_loop.h"
#include "net/http_message.h"

namespace strata::net {

// An answer that is made while it is sent: a list of a hundred thousand objects, a watch. Pulled
// only as fast as the peer reads, so a slow reader costs no memory. Destroyed when the answer has
// ended or the peer has gone.
class BodySource {
 public:
  enum class More : std::uint8_t {
    kReady,  // something was appended; ask again
    kLater,  // nothing now; ask after Exchange::Wake
    kEnd,    // that was the last piece (which may be empty)
    kAbort,  // break the connection without a proper end
  };

  BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;
  virtual ~BodySource() = default;

  // Appends the next piece to `out` (empty when called), some 64 KiB at a time where there is much.
  virtual More Pull(std::string& out) = 0;
};

// One request and its one answer. Lives on the server's loop; may be kept and answered later.
// Dropping it unanswered closes the connection.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  [[nodiscard]] virtual const HttpRequest& request() const = 0;
  // Exactly one of the two is called, once.
  virtual void Respond(HttpResponse response) = 0;
  // Chunked; `head.body` is sent first.
  virtual void RespondStream(HttpResponse head, std::unique_ptr<BodySource> source) = 0;
  // Pulls the source again after kLater. Nothing when the answer has ended.
  virtual void Wake() = 0;
};

// What the head of a request says about its sender.
struct HeadVerdict {
  // A stranger showed nothing that a passer-by could not show: its request has no body, and its
  // connection little time and the first to go.
  enum class Caller : std::uint8_t { kStranger, kKnown };
  Caller caller = Caller::kKnown;
  // Sent instead of handling the request, whose body is then not read.
  std::optional<HttpResponse> refusal = {};
};
// Called when the head of a request is complete, before any of its body is read.
using HeadCheck = std::function<HeadVerdict(const HttpRequest& head)>;

using RequestHandler = std::function<void(std::shared_ptr<Exchange>)>;

struct ServerCertificate {
  std::string certificate_pem;  // the chain, leaf first
  std::string key_pem;
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;                        // 0 takes a free one
  std::optional<ServerCertificate> certificate;  // none: plain HTTP
  std::size_t max_body_bytes = 3145728;
  // A connection ends when it has carried no request for so long. A stream that waits for its
  // source is never idle: a peer that vanished is found by TCP keep-alive.
  Duration idle_timeout = std::chrono::minutes(5);
  // ... when a request or an answer that is under way does not move for so long.
  Duration stall_timeout = std::chrono::minutes(1);
  // ... when a request has not come whole so long after its first byte.
  Duration request_timeout = std::chrono::minutes(2);
  // ... when its handshake, or the head of the next request, has not come whole so long after the
  // connection or its last answer, as long as it has carried no request of a known caller.
  Duration stranger_timeout = std::chrono::seconds(10);
  // Without one every caller is known.
  HeadCheck check_head;
  // At a limit a new connection replaces another: that of a stranger whose request is not being
  // handled; then one between requests; then the one whose request has been coming for longest.
  // Listen lowers max_connections to what the process may open, after it has raised that limit as
  // far as it is allowed and needed.
  std::size_t max_connections = 8192;
  std::size_t max_strangers = 1024;
  // Requests that are being read or handled take no more together. Beyond it, those whose reading
  // began first are refused (429), strangers before known callers.
  std::size_t max_request_bytes = std::size_t{256} << 20U;
  // The answer to a body that is larger, to a request too many, to a header nobody can read, and so
  // on; `status` is the HTTP code.
  std::function<HttpResponse(int status)> refusal;
};

// HTTP/1.1 with keep-alive and chunked answers, with or without TLS, on one EventLoop. Must go
// before the loop does.
class HttpServer {
 public:
  // Listens at once; kUnavailable with address and system message when it cannot.
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> Listen(EventLoop& loop,
                                                                  HttpServerOptions options,
                                                                  RequestHandler handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  virtual ~HttpServer() = default;

  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // What connections that come from now on are shown; those that are open keep theirs.
  // kInvalidArgument, and nothing changes, when certificate and key are not a pair. REQUIRES: it
  // was opened with a certificate.
  virtual Status SetCertificate(const ServerCertificate& certificate) = 0;
  // Takes no more connections, ends the streams, answers what is under way, then calls `done`.
  virtual void Drain(std::function<void()> done) = 0;

 protected:
  HttpServer() = default;
};

}  // namespace strata::net
