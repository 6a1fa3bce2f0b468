#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client.h"
#include "kube/kubeconfig.h"
#include "kube/lease_state.h"
#include "obs/log.h"

namespace CLI {
class App;
}

// What the programs of a running cluster have in common: their flags, as Volcano's have them, and
// how they run as a process.
namespace strata {

// The values that are here before the command line is read are the defaults, and shown as such.
struct ComponentFlags {
  kube::ConnectionFlags connection;
  double write_rate = 50;
  double write_burst = 100;
  int verbosity = 0;
  bool leader_elect = true;
  std::string lease_space = "volcano-system";
  std::string lease_name;
  std::string lease_duration = "15s";
  std::string lease_renew = "10s";
  std::string lease_retry = "2s";
  bool metrics = false;
  bool healthz = false;
  std::string metrics_address = ":8080";
  std::string healthz_address = ":11251";
  bool metrics_address_given = false;
  bool healthz_address_given = false;
  std::vector<std::string> given_without_effect;
};

// `without_effect` are flags of Volcano's that change nothing here: accepted, with a warning.
void AddComponentFlags(CLI::App& command,
                       ComponentFlags& flags,
                       std::span<const char* const> without_effect);

// The same for a component that others ask: it has no lease, and --listen-address is its own.
void AddServingFlags(CLI::App& command,
                     ComponentFlags& flags,
                     std::span<const char* const> without_effect);

// A flag whose value is a Go duration; `out` has the default.
void AddDurationFlag(CLI::App& command, const char* flag, std::string& out, const char* what);

// None with --leader-elect=false. Another identity at each call.
[[nodiscard]] std::optional<kube::LeaseSettings> LeaseOf(const ComponentFlags& flags);

// Who a process is among those that want a lease: its host and something random, never the same
// twice.
[[nodiscard]] std::string NewLeaseIdentity();

struct Component {
  std::function<Status(const std::stop_token&)> run;
  std::function<std::string()> metrics;
  std::function<bool()> ready;
  std::function<void()> dump;           // at SIGUSR2; may be empty
  std::function<void()> snapshot = {};  // at SIGUSR1; likewise
};
using MakeComponent = std::function<Component(kube::Client& client, obs::Log& log)>;

// Of a LiveScheduler, of Controllers: whatever runs, counts, and knows when it is ready.
template <typename T>
[[nodiscard]] Component ComponentOf(const std::shared_ptr<T>& made) {
  return {.run = [made](const std::stop_token& stop) { return made->Run(stop); },
          .metrics = [made] { return made->Metrics(); },
          .ready = [made] { return made->IsReady(); },
          .dump = {}};
}

// Runs what `make` gives on a thread of its own until SIGINT or SIGTERM, with signals and pages on
// this one; the exit status. `name` is how the log and the API server know it: "scheduler" is
// "strata-scheduler" there.
[[nodiscard]] int RunComponent(const std::string& name,
                               const ComponentFlags& flags,
                               const MakeComponent& make);

}  // namespace strata
