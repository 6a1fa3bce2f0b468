#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/http_message.h"

namespace strata::net {

// A time that never goes back and is of this process only. It counts while the machine sleeps: an
// interval of 15 seconds that was measured across a suspend includes the suspend.
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// One thread with timers. Whatever lives on it needs no locks; tests give one with a time of their
// own.
class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  // From any thread.
  [[nodiscard]] virtual SteadyTime Now() const = 0;
  [[nodiscard]] virtual bool OnThread() const = 0;
  // Runs `task` on the thread, after what was posted before.
  virtual void Post(std::function<void()> task) = 0;

  // On the thread only. Tasks that are due run in the order of their times, then of their making.
  virtual TimerId After(Duration delay, std::function<void()> task) = 0;
  virtual void CancelTimer(TimerId timer) = 0;  // nothing when it has fired

  // Runs `task` on the thread and returns when it has run; at once when that is the caller's own.
  void Run(const std::function<void()>& task);
};

// What a request may take. Zero means unlimited.
struct RequestLimits {
  Duration connect = std::chrono::seconds(10);
  Duration total = std::chrono::seconds(60);
  // The answer counts as dead when no byte of it came for so long.
  Duration silence = Duration(0);
};

struct ClientRequest {
  HttpRequest message;  // path and query as they are to be sent
  RequestLimits limits;
};

// Why there was no answer, or not the whole of one.
struct TransportError {
  enum class Sent : std::uint8_t {
    kNo,     // the server has seen nothing: safe to send again
    kMaybe,  // it may have acted on the request
  };
  enum class Cause : std::uint8_t {
    kConnection,  // refused, reset, cut off, not found by DNS
    kTimeout,     // one of RequestLimits
    kTrust,       // a certificate, ours or theirs: no use to try again at once
    kCancelled,   // Cancel, OnBody said no, or the transport is closing
  };
  Cause cause = Cause::kConnection;
  Sent sent = Sent::kMaybe;
  std::string message;  // one line, no secrets
};

using Outcome = tl::expected<void, TransportError>;

// Takes an answer as it comes: OnHead once, OnBody any number of times, OnEnd once and last, in
// every case. On the transport's thread; must not block.
class Receiver {
 public:
  Receiver() = default;
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  virtual ~Receiver() = default;

  // Status and headers; `head.body` is empty.
  virtual void OnHead(HttpResponse head) = 0;
  enum class Wish : std::uint8_t { kMore, kCancel };
  virtual Wish OnBody(std::string_view piece) = 0;
  // A value when the answer ended as HTTP says it should, whatever its status.
  virtual void OnEnd(Outcome outcome) = 0;
};

enum class RequestId : std::uint64_t {};

// Requests to one server, and the thread on which their answers come. It sends once: who wants to
// try again decides that above (kube/client.h).
class Transport : public Executor {
 public:
  // From any thread. The receiver is kept until its OnEnd, which never runs inside Send.
  virtual RequestId Send(ClientRequest request, std::shared_ptr<Receiver> receiver) = 0;
  // From any thread. OnEnd follows (kCancelled), never inside Cancel; nothing when it has been.
  virtual void Cancel(RequestId request) = 0;
  // Closes every connection, for a peer that acknowledges but does not answer any more: what was
  // sent before ends (kConnection), what is sent from now on goes over new ones. From any thread.
  virtual void CloseConnections() = 0;
};

}  // namespace strata::net
