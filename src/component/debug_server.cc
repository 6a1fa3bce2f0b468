#include "component/debug_server.h"

#include <csignal>
#include <thread>
#include <utility>

#include "component/debug_pages.h"
#include "net/event_loop.h"

namespace strata {

class DebugServer::Impl {
 public:
  Status Start(const std::string& address, const Component& component, obs::Log& log) {
    if (!address.empty()) {
      TRY_ASSIGN(server_,
                 ServeDebugPages(loop_,
                                 address,
                                 {.metrics = component.metrics,
                                  .ready = component.ready,
                                  .log = &log,
                                  .late_thread = component.late_thread}));
      log.Info("serving pages", {{"port", server_->port()}});
    }
    if (component.dump) loop_.OnSignals({SIGUSR2}, component.dump);
    if (component.snapshot) loop_.OnSignals({SIGUSR1}, component.snapshot);
    thread_ = std::thread([this] { loop_.Run(); });
    return {};
  }

  ~Impl() {
    if (!thread_.joinable()) return;
    loop_.Stop();
    thread_.join();
  }

 private:
  net::EventLoop loop_;
  std::unique_ptr<net::HttpServer> server_;
  std::thread thread_;
};

DebugServer::DebugServer() : impl_(std::make_unique<Impl>()) {}
DebugServer::~DebugServer() = default;

Result<std::unique_ptr<DebugServer>> DebugServer::Start(const std::string& address,
                                                        const Component& component,
                                                        obs::Log& log) {
  std::unique_ptr<DebugServer> server(new DebugServer);
  TRY(server->impl_->Start(address, component, log));
  return server;
}

}  // namespace strata
