#include "apps/component_flags.h"

#include <CLI/CLI.hpp>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/flags.h"
#include "base/ascii.h"
#include "base/duration.h"
#include "component/component.h"
#include "component/debug_pages.h"

namespace strata {
namespace {

void AddServerOfFlags(CLI::App& command, ComponentFlags& flags) {
  AddConnectionFlags(command, flags.connection);
  command.add_option("--master", flags.connection.server, "Address of the API server")
      ->type_name("URL");
}

void AddClientFlags(CLI::App& command, ComponentFlags& flags) {
  AddServerOfFlags(command, flags);
  command
      .add_option("--kube-api-qps",
                  flags.write_rate,
                  fmt::format("Maximum write requests per second; default: {}", flags.write_rate))
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
  command
      .add_option("--kube-api-burst",
                  flags.write_burst,
                  fmt::format("Maximum burst of write requests; default: {}", flags.write_burst))
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
}

// Flags of klog and client-go, which every component of Volcano has.
constexpr std::array<const char*, 13> kIgnoredByAll = {"--add_dir_header",
                                                       "--alsologtostderr",
                                                       "--log_backtrace_at",
                                                       "--log_dir",
                                                       "--log_file",
                                                       "--log_file_max_size",
                                                       "--log-flush-frequency",
                                                       "--logtostderr",
                                                       "--one_output",
                                                       "--skip_headers",
                                                       "--skip_log_headers",
                                                       "--stderrthreshold",
                                                       "--vmodule"};

void AddIgnoredFlags(CLI::App& command, ComponentFlags& flags, std::span<const char* const> names) {
  for (const char* flag : names) {
    // A callback and not each(): that is not called for a flag without a value.
    CLI::callback_t remember = [&given = flags.ignored_flags, flag](const CLI::results_t&) {
      given.emplace_back(flag);
      return true;
    };
    command.add_option(flag, std::move(remember), "Accepted and ignored")
        ->group("Accepted and ignored")  // help lists groups after the other flags
        ->type_name("VALUE")
        ->expected(0, 1);
  }
}

constexpr const char* kLeaseDuration = "--leader-elect-lease-duration";
constexpr const char* kRenewDeadline = "--leader-elect-renew-deadline";
constexpr const char* kRetryPeriod = "--leader-elect-retry-period";

std::string CheckNotEmpty(const std::string& text) {
  return text.empty() ? "want a name, found \"\"" : "";
}

// Other kinds of locks were removed from client-go.
std::string CheckLock(const std::string& text) {
  return text == "leases" ? "" : "want leases, found \"" + text + "\"";
}

void AddLeaseFlags(CLI::App& command, ComponentFlags& flags) {
  command
      .add_option(
          "--leader-elect", flags.leader_elect, "Work only while holding the lease; default: true")
      ->type_name("BOOL")
      ->expected(0, 1)
      ->default_str("true");
  command
      .add_option("--leader-elect-resource-namespace",
                  flags.lease_namespace,
                  "Namespace of the lease; default: " + flags.lease_namespace)
      ->type_name("NAMESPACE")
      ->check(CheckNotEmpty);
  command
      .add_option("--leader-elect-resource-name",
                  flags.lease_name,
                  "Name of the lease; default: " +
                      (flags.lease_name.empty() ? "the scheduler's" : flags.lease_name) +
                      ", as in Volcano")
      ->type_name("NAME")
      ->check(CheckNotEmpty);
  command
      .add_option("--leader-elect-resource-lock",
                  flags.lease_lock,
                  "Kind of the lock; leases is the only one")
      ->type_name("leases")
      ->check(CheckLock);
  AddDurationFlag(command,
                  kLeaseDuration,
                  flags.lease_duration,
                  "How long other candidates wait before they take the lease");
  AddDurationFlag(command,
                  kRenewDeadline,
                  flags.lease_renew,
                  "How long the holder works without renewing the lease");
  AddDurationFlag(command,
                  kRetryPeriod,
                  flags.lease_retry,
                  "Time between two attempts to take or renew the lease");
  command.parse_complete_callback([&flags] {
    if (const Status status = CheckLease(flags); !status) {
      throw CLI::ValidationError(status.error().message);
    }
  });
}

void AddMetricsFlags(CLI::App& command, ComponentFlags& flags) {
  command.add_flag("--enable-metrics", flags.metrics, "Serve /metrics on --listen-address");
  command
      .add_option("--listen-address",
                  flags.metrics_address,
                  "Address of /metrics; default: " + flags.metrics_address)
      ->type_name("ADDRESS:PORT")
      ->each([&flags](const std::string&) { flags.metrics_address_given = true; });
}

void AddHealthzFlags(CLI::App& command, ComponentFlags& flags) {
  command.add_flag("--enable-healthz", flags.healthz, "Serve /healthz on --healthz-address");
  command
      .add_option("--healthz-address",
                  flags.healthz_address,
                  "Address of /healthz and /readyz; default: " + flags.healthz_address)
      ->type_name("ADDRESS:PORT")
      ->each([&flags](const std::string&) { flags.healthz_address_given = true; });
}

void AddDebugChangesFlag(CLI::App& command, ComponentFlags& flags) {
  command.add_flag("--allow-debug-changes",
                   flags.debug_changes,
                   "Serve PUT /debug/flags/v on every address; default: on loopback addresses");
}

void AddVerbosityFlag(CLI::App& command, ComponentFlags& flags) {
  // "-v 3", and "-v=3" as klog accepts it.
  command
      .add_option_function<std::string>(
          "-v,--v",
          [&flags](const std::string& text) {
            const std::string_view number =
                std::string_view(text).substr(text.starts_with('=') ? 1 : 0);
            const auto level = WholeNumber(number, kMaxVerbosity);
            if (!level) {
              throw CLI::ValidationError(
                  "-v",
                  fmt::format("invalid verbosity \"{}\": want an integer from 0 to {}",
                              text,
                              kMaxVerbosity));
            }
            flags.verbosity = static_cast<int>(*level);
          },
          "Log verbosity, 0 to 5; default: 0")
      ->type_name("N");
}

}  // namespace

void AddDurationFlag(CLI::App& command, const char* flag, std::string& out, const char* what) {
  command.add_option(flag, out, fmt::format("{}; default: {}", what, out))
      ->type_name("DURATION")
      ->check([](const std::string& text) { return MessageOf(ParseDuration(text)); });
}

void AddComponentFlags(CLI::App& command,
                       ComponentFlags& flags,
                       std::span<const char* const> ignored) {
  command.set_version_flag("--version", "strata " STRATA_VERSION);
  AddClientFlags(command, flags);
  AddLeaseFlags(command, flags);
  AddMetricsFlags(command, flags);
  AddHealthzFlags(command, flags);
  AddDebugChangesFlag(command, flags);
  AddVerbosityFlag(command, flags);
  AddIgnoredFlags(command, flags, kIgnoredByAll);
  AddIgnoredFlags(command, flags, ignored);
}

void AddServingFlags(CLI::App& command,
                     ComponentFlags& flags,
                     std::span<const char* const> ignored) {
  command.set_version_flag("--version", "strata " STRATA_VERSION);
  AddClientFlags(command, flags);
  AddHealthzFlags(command, flags);
  AddDebugChangesFlag(command, flags);
  AddVerbosityFlag(command, flags);
  AddIgnoredFlags(command, flags, kIgnoredByAll);
  AddIgnoredFlags(command, flags, ignored);
}

void AddReaderFlags(CLI::App& command, ComponentFlags& flags) {
  command.set_version_flag("--version", "strata " STRATA_VERSION);
  AddServerOfFlags(command, flags);
  AddMetricsFlags(command, flags);
  AddHealthzFlags(command, flags);
  AddVerbosityFlag(command, flags);
}

std::string CheckObjectName(const std::string& text) {
  const std::size_t slash = text.find('/');
  const bool good = slash != std::string::npos && slash > 0 && slash + 1 < text.size() &&
                    text.find('/', slash + 1) == std::string::npos;
  return good ? "" : "want NAMESPACE/NAME, not " + text;
}

Status CheckLease(const ComponentFlags& flags) {
  if (!flags.leader_elect) return {};
  const Duration duration = ParseDuration(flags.lease_duration).value();
  const Duration renew = ParseDuration(flags.lease_renew).value();
  const Duration retry = ParseDuration(flags.lease_retry).value();
  const auto wrong = [](const char* flag, const std::string& want, const std::string& found) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: want {}, found {}", flag, want, found));
  };
  const std::string positive = "1ms or more";  // what is finer is cut off
  if (duration <= Duration::zero()) return wrong(kLeaseDuration, positive, flags.lease_duration);
  if (renew <= Duration::zero()) return wrong(kRenewDeadline, positive, flags.lease_renew);
  if (retry <= Duration::zero()) return wrong(kRetryPeriod, positive, flags.lease_retry);
  if (duration <= renew) {
    return wrong(kLeaseDuration,
                 fmt::format("more than {} ({})", kRenewDeadline, flags.lease_renew),
                 flags.lease_duration);
  }
  // Between two attempts there may be 1.2 times the period. Durations are below 2^43 milliseconds.
  if (renew.count() * 10 <= retry.count() * 12) {
    return wrong(kRenewDeadline,
                 fmt::format("more than 1.2 times {} ({})", kRetryPeriod, flags.lease_retry),
                 flags.lease_renew);
  }
  return {};
}

std::optional<kube::LeaseSettings> LeaseOf(const ComponentFlags& flags) {
  if (!flags.leader_elect) return std::nullopt;
  kube::LeaseSettings lease;
  lease.ns = flags.lease_namespace;
  lease.name = flags.lease_name;
  lease.identity = NewLeaseIdentity();
  lease.duration = ParseDuration(flags.lease_duration).value();
  lease.renew = ParseDuration(flags.lease_renew).value();
  lease.retry = ParseDuration(flags.lease_retry).value();
  return lease;
}

}  // namespace strata
