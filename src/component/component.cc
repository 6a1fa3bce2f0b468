#include "component/component.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "component/debug_pages.h"
#include "kube/connection.h"
#include "net/event_loop.h"

namespace strata {
namespace {

class Process {
 public:
  Process(const std::string& name, const ComponentOptions& options)
      : name_(name), options_(options), log_(name, kube::SystemClock(), {&sink_}) {
    log_.set_verbosity(options.verbosity);
  }

  Status Run(const MakeComponent& make) {
    std::signal(SIGPIPE, SIG_IGN);
    for (const std::string& flag : options_.ignored_flags) {
      log_.Warning("flag is ignored", {{"flag", flag}});
    }
    const kube::Surroundings outside = kube::SystemSurroundings();
    TRY_ASSIGN(const kube::ConnectionConfig config,
               kube::FindConnection(options_.connection, outside));
    kube::ConnectionOptions connection_options;
    connection_options.user_agent = "strata-" + name_;
    connection_options.write_rate = {options_.write_rate, options_.write_burst};
    TRY_ASSIGN(const std::unique_ptr<kube::Connection> connection,
               kube::Connection::Open(config, connection_options, outside));
    return RunUntilSignal(make(connection->client(), log_));
  }

 private:
  using Servers = std::vector<std::unique_ptr<net::HttpServer>>;

  // The callbacks of the loop hold the component, so it is destroyed with the loop, before the
  // client.
  Status RunUntilSignal(const Component& component) {
    net::EventLoop loop;
    TRY_ASSIGN(const Servers servers, Serve(loop, component));
    std::stop_source stop;
    loop.OnSignals({SIGINT, SIGTERM}, [&stop] { stop.request_stop(); });
    if (component.dump) loop.OnSignals({SIGUSR2}, component.dump);
    if (component.snapshot) loop.OnSignals({SIGUSR1}, component.snapshot);
    Status outcome;
    std::thread thread([&] {
      outcome = component.run(stop.get_token());
      loop.Stop();
    });
    loop.Run();
    thread.join();
    return outcome;
  }

  Result<Servers> Serve(net::EventLoop& loop, const Component& component) {
    struct Page {
      bool wanted;
      const std::string& address;
      bool given;
    };
    const Page pages[] = {
        {options_.metrics, options_.metrics_address, options_.metrics_address_given},
        {options_.healthz, options_.healthz_address, options_.healthz_address_given}};
    const DebugSources sources{.metrics = component.metrics,
                               .ready = component.ready,
                               .log = &log_,
                               .changes_allowed = options_.debug_changes,
                               .late_thread = component.late_thread};
    Servers servers;
    for (const Page& page : pages) {
      if (!page.wanted) continue;
      auto server = ServeDebugPages(loop, page.address, sources);
      if (server) {
        log_.Info("serving pages", {{"port", (*server)->port()}});
        servers.push_back(*std::move(server));
      } else if (page.given) {
        return tl::unexpected<Error>(std::move(server).error());
      } else {  // a default address in use does not stop the component
        log_.Warning("pages are not served", {{"err", server.error().message}});
      }
    }
    return servers;
  }

  const std::string& name_;
  const ComponentOptions& options_;
  obs::StandardErrorSink sink_;
  obs::Log log_;
};

}  // namespace

std::string NewLeaseIdentity() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", host.data(), random(), random());
}

int RunComponent(const std::string& name,
                 const ComponentOptions& options,
                 const MakeComponent& make) {
  const Status status = Process(name, options).Run(make);
  if (status) return 0;
  fmt::print(stderr, "{}\n", status.error().message);
  return 1;
}

}  // namespace strata
