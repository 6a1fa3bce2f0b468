#include "apps/attendant.h"

#include <csignal>
#include <thread>
#include <utility>

#include "apps/debug_pages.h"
#include "net/event_loop.h"

namespace strata {

class Attendant::Impl {
 public:
  Status Start(const std::string& address, const Component& component, obs::Log& log) {
    if (!address.empty()) {
      TRY_ASSIGN(
          server_,
          ServeDebugPages(loop_,
                          address,
                          {.metrics = component.metrics, .ready = component.ready, .log = &log}));
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

Attendant::Attendant() : impl_(std::make_unique<Impl>()) {}
Attendant::~Attendant() = default;

Result<std::unique_ptr<Attendant>> Attendant::Start(const std::string& address,
                                                    const Component& component,
                                                    obs::Log& log) {
  std::unique_ptr<Attendant> attendant(new Attendant);
  TRY(attendant->impl_->Start(address, component, log));
  return attendant;
}

}  // namespace strata
