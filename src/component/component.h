#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client.h"
#include "kube/kubeconfig.h"
#include "obs/log.h"

// A component of a running cluster (the scheduler, the controllers, the webhooks) as a process.
namespace strata {

// How the process of a component connects, logs and serves its debug pages.
struct ComponentOptions {
  kube::ConnectionFlags connection;
  double write_rate = 50;  // requests per second that write
  double write_burst = 100;
  int verbosity = 0;
  bool metrics = false;        // serve the debug pages on metrics_address
  bool healthz = false;        // and on healthz_address
  bool debug_changes = false;  // serve PUT on every address, not on loopback ones alone
  std::string metrics_address = ":8080";
  std::string healthz_address = ":11251";
  // Whether the user named the address. A default address in use is a warning, a named one an
  // error.
  bool metrics_address_given = false;
  bool healthz_address_given = false;
  std::vector<std::string> ignored_flags;  // that were given; each is logged as a warning
};

// What a component does. Every function but `run` is called on the thread of the event loop while
// `run` is running on its own thread.
struct Component {
  std::function<Status(const std::stop_token&)> run;
  std::function<std::string()> metrics;
  std::function<bool()> ready;
  std::function<void()> dump;           // on SIGUSR2; may be empty
  std::function<void()> snapshot = {};  // on SIGUSR1; may be empty
  // The thread that hangs, "" when none does; may be empty. /livez fails when there is one.
  std::function<std::string()> late_thread = {};
};
using MakeComponent = std::function<Component(kube::Client& client, obs::Log& log)>;

// The component of an object with Run, Metrics, IsReady and LateThread, such as LiveScheduler or
// Controllers.
template <typename T>
[[nodiscard]] Component ComponentOf(const std::shared_ptr<T>& made) {
  return {.run = [made](const std::stop_token& stop) { return made->Run(stop); },
          .metrics = [made] { return made->Metrics(); },
          .ready = [made] { return made->IsReady(); },
          .dump = {},
          .snapshot = {},
          .late_thread = [made] { return made->LateThread(); }};
}

// Connects to the API server and runs what `make` returns on its own thread until SIGINT or
// SIGTERM, with signals and debug pages on the calling thread. Returns the exit status; an error is
// printed to standard error. Log lines carry `name`; the user agent is "strata-" followed by
// `name`.
[[nodiscard]] int RunComponent(const std::string& name,
                               const ComponentOptions& options,
                               const MakeComponent& make);

// The identity of this process as a candidate for a lease: the host name and a random number, so
// that no two calls return the same.
[[nodiscard]] std::string NewLeaseIdentity();

}  // namespace strata
