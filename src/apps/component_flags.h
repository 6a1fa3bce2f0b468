#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "component/component.h"
#include "kube/lease_state.h"

namespace CLI {
class App;
}

// The flags that the components have in common, under the names that Volcano's have.
namespace strata {

// The values before the command line is parsed are the defaults; the help text shows them.
struct ComponentFlags : ComponentOptions {
  bool leader_elect = true;
  std::string lease_namespace = "volcano-system";
  std::string lease_name;
  std::string lease_lock = "leases";
  std::string lease_duration = "15s";
  std::string lease_renew = "10s";
  std::string lease_retry = "2s";
};

// `ignored` are flags of Volcano's that change nothing here: accepted, with a warning. Parsing
// fails where CheckLease does.
void AddComponentFlags(CLI::App& command,
                       ComponentFlags& flags,
                       std::span<const char* const> ignored);

// The same for a component that serves requests: it has no lease, and defines --listen-address
// itself.
void AddServingFlags(CLI::App& command,
                     ComponentFlags& flags,
                     std::span<const char* const> ignored);

// The same for one that only reads: no lease, no rates of writes, nothing that is ignored.
void AddReaderFlags(CLI::App& command, ComponentFlags& flags);

// A flag whose value is a Go duration; `out` holds the default.
void AddDurationFlag(CLI::App& command, const char* flag, std::string& out, const char* what);

// What is wrong with a flag that wants NAMESPACE/NAME; "" when nothing is.
[[nodiscard]] std::string CheckObjectName(const std::string& text);

// Whether the times of the lease leave no moment with two leaders, by the rules of client-go:
// every time more than 0, --leader-elect-lease-duration more than --leader-elect-renew-deadline,
// and that more than 1.2 times --leader-elect-retry-period. The error names the flag, what is
// accepted and what was found. Without leader election nothing is checked.
//
// REQUIRES: the three are durations.
[[nodiscard]] Status CheckLease(const ComponentFlags& flags);

// The lease to hold while working; none with --leader-elect=false. Each call makes a new identity.
[[nodiscard]] std::optional<kube::LeaseSettings> LeaseOf(const ComponentFlags& flags);

}  // namespace strata
