#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kube/test_fake_transport.h"
#include "net/http_server.h"
#include "tests/histories/faults.h"
#include "tests/histories/server.h"
#include "tests/histories/timeline.h"
#include "tests/histories/trace.h"

namespace strata::histories {

// What all processes share.
struct World {
  Timeline& timeline;
  Server& server;
  Faults& faults;
  Trace& trace;
  // A bind met a fault: the moment at which others want its room.
  std::function<void()> on_bind_trouble;
  // A bind of that process is about to take effect.
  std::function<void(int)> before_bind;
  // A bind of a process that is gone arrives.
  std::function<void(const std::string& path)> late_bind;
  // A process with that identity sends what only the holder of that lease may write.
  std::function<void(const std::string&, const std::string&, const net::HttpRequest&)> on_write;
};

// The network between one process and the server: delays, and what Faults decides. What comes back
// for one request comes in order.
class Link final : public std::enable_shared_from_this<Link> {
 public:
  struct Ends {
    int process = 0;
    std::string name;  // for the trace
    kube::FakeTransport& transport;
    // Runs a task inside the process: at once, or when it is no longer paused.
    std::function<void(std::function<void()>)> deliver;
    // The server has just carried out a bind of this process, or created a pod for it.
    std::function<void()> after_effect;
    // A bind of this process is to be sent again later.
    std::function<void()> before_retry;
  };
  Link(const World& world, Ends ends) : world_(world), ends_(std::move(ends)) {}

  void Send(net::RequestId id, const net::ClientRequest& request);
  // The watches of a collection say nothing more.
  void SilenceWatch(std::string_view path);
  [[nodiscard]] bool HasSilentWatch() const;
  // The process has gone. What has left it may still arrive.
  void Close();

 private:
  class LinkExchange;

  void Arrive(net::RequestId id, const net::HttpRequest& request, const Fate& fate);
  void EndStream(net::RequestId id, const Fate& fate);
  void Answer(net::RequestId id, const Fate& fate, net::HttpResponse answer);
  void Break(net::RequestId id, Duration delay, net::TransportError::Sent sent);
  // Brings something to the process after `delay`, behind what is under way for the same request.
  void Bring(net::RequestId id, Duration delay, std::function<void(kube::FakeTransport&)> what);
  [[nodiscard]] bool IsWanted(net::RequestId id) const;
  void Drop(net::RequestId id);

  const World& world_;
  Ends ends_;
  bool closed_ = false;
  std::map<net::RequestId, std::shared_ptr<LinkExchange>> streams_;
  std::map<net::RequestId, net::SteadyTime> arrives_;  // the last piece under way
};

}  // namespace strata::histories
