#include "apps/component.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "apps/debug_pages.h"
#include "apps/flags.h"
#include "base/ascii.h"
#include "base/duration.h"
#include "kube/connection.h"
#include "net/event_loop.h"

namespace strata {
namespace {

void AddClientFlags(CLI::App& command, ComponentFlags& flags) {
  AddConnectionFlags(command, flags.connection);
  command.add_option("--master", flags.connection.server, "Address of the API server")
      ->type_name("URL");
  command
      .add_option("--kube-api-qps",
                  flags.write_rate,
                  fmt::format("Writes per second; default: {}", flags.write_rate))
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
  command
      .add_option("--kube-api-burst",
                  flags.write_burst,
                  fmt::format("Writes at once; default: {}", flags.write_burst))
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
}

// Of klog and of client-go, which every component of Volcano's has.
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

void AddFlagsWithoutEffect(CLI::App& command,
                           ComponentFlags& flags,
                           std::span<const char* const> names) {
  for (const char* flag : names) {
    command.add_option(flag, "Accepted, without effect")
        ->type_name("VALUE")
        ->expected(0, 1)
        ->each([&given = flags.given_without_effect, flag](const std::string&) {
          given.emplace_back(flag);
        });
  }
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
                  flags.lease_space,
                  "Of the lease; default: " + flags.lease_space)
      ->type_name("NAMESPACE");
  command
      .add_option("--leader-elect-resource-name",
                  flags.lease_name,
                  "Of the lease; default: " +
                      (flags.lease_name.empty() ? "the scheduler's" : flags.lease_name) +
                      ", which is Volcano's")
      ->type_name("NAME");
  AddDurationFlag(command,
                  "--leader-elect-lease-duration",
                  flags.lease_duration,
                  "How long others leave the lease alone");
  AddDurationFlag(command,
                  "--leader-elect-renew-deadline",
                  flags.lease_renew,
                  "How long it works without renewing it");
  AddDurationFlag(
      command, "--leader-elect-retry-period", flags.lease_retry, "Between two attempts at it");
}

void AddMetricsFlags(CLI::App& command, ComponentFlags& flags) {
  command.add_flag("--enable-metrics", flags.metrics, "Serve /metrics on --listen-address");
  command
      .add_option("--listen-address",
                  flags.metrics_address,
                  "Of /metrics; default: " + flags.metrics_address)
      ->type_name("ADDRESS:PORT")
      ->each([&flags](const std::string&) { flags.metrics_address_given = true; });
}

void AddHealthzFlags(CLI::App& command, ComponentFlags& flags) {
  command.add_flag("--enable-healthz", flags.healthz, "Serve /healthz on --healthz-address");
  command
      .add_option("--healthz-address",
                  flags.healthz_address,
                  "Of /healthz and /readyz; default: " + flags.healthz_address)
      ->type_name("ADDRESS:PORT")
      ->each([&flags](const std::string&) { flags.healthz_address_given = true; });
}

void AddVerbosityFlag(CLI::App& command, ComponentFlags& flags) {
  // "-v 3", and "-v=3" as klog is told.
  command
      .add_option_function<std::string>(
          "-v,--v",
          [&flags](const std::string& text) {
            const std::string_view number =
                std::string_view(text).substr(text.starts_with('=') ? 1 : 0);
            const auto level = WholeNumber(number, kMostVerbose);
            if (!level) throw CLI::ValidationError("-v", "want a number, not " + text);
            flags.verbosity = static_cast<int>(*level);
          },
          "How much is logged, 0 to 5; default: 0")
      ->type_name("N");
}

class Process {
 public:
  Process(const std::string& name, const ComponentFlags& flags)
      : name_(name), flags_(flags), log_(name, kube::SystemClock(), {&sink_}) {
    log_.set_verbosity(flags.verbosity);
  }

  Status Run(const MakeComponent& make) {
    std::signal(SIGPIPE, SIG_IGN);
    for (const std::string& flag : flags_.given_without_effect) {
      log_.Warning("this flag has no effect here", {{"flag", flag}});
    }
    const kube::Surroundings outside = kube::SystemSurroundings();
    TRY_ASSIGN(const kube::ConnectionConfig config,
               kube::FindConnection(flags_.connection, outside));
    kube::ConnectionOptions options;
    options.user_agent = "strata-" + name_;
    options.write_rate = {flags_.write_rate, flags_.write_burst};
    TRY_ASSIGN(const std::unique_ptr<kube::Connection> connection,
               kube::Connection::Open(config, options, outside));
    return RunUntilSignal(make(connection->client(), log_));
  }

 private:
  using Servers = std::vector<std::unique_ptr<net::HttpServer>>;

  // The component goes with the loop, whose callbacks hold it, and before the client that it uses.
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
    const Page pages[] = {{flags_.metrics, flags_.metrics_address, flags_.metrics_address_given},
                          {flags_.healthz, flags_.healthz_address, flags_.healthz_address_given}};
    const DebugSources sources{
        .metrics = component.metrics, .ready = component.ready, .log = &log_};
    Servers servers;
    for (const Page& page : pages) {
      if (!page.wanted) continue;
      auto server = ServeDebugPages(loop, page.address, sources);
      if (server) {
        log_.Info("serving pages", {{"port", (*server)->port()}});
        servers.push_back(*std::move(server));
      } else if (page.given) {
        return tl::unexpected<Error>(std::move(server).error());
      } else {  // a default address that is taken is no reason not to work
        log_.Warning("pages are not served", {{"err", server.error().message}});
      }
    }
    return servers;
  }

  const std::string& name_;
  const ComponentFlags& flags_;
  obs::StandardErrorSink sink_;
  obs::Log log_;
};

}  // namespace

void AddDurationFlag(CLI::App& command, const char* flag, std::string& out, const char* what) {
  command.add_option(flag, out, fmt::format("{}; default: {}", what, out))
      ->type_name("DURATION")
      ->check([](const std::string& text) { return MessageOf(ParseDuration(text)); });
}

void AddComponentFlags(CLI::App& command,
                       ComponentFlags& flags,
                       std::span<const char* const> without_effect) {
  command.set_version_flag("--version", "strata " STRATA_VERSION);
  AddClientFlags(command, flags);
  AddLeaseFlags(command, flags);
  AddMetricsFlags(command, flags);
  AddHealthzFlags(command, flags);
  AddVerbosityFlag(command, flags);
  AddFlagsWithoutEffect(command, flags, kIgnoredByAll);
  AddFlagsWithoutEffect(command, flags, without_effect);
}

void AddServingFlags(CLI::App& command,
                     ComponentFlags& flags,
                     std::span<const char* const> without_effect) {
  command.set_version_flag("--version", "strata " STRATA_VERSION);
  AddClientFlags(command, flags);
  AddHealthzFlags(command, flags);
  AddVerbosityFlag(command, flags);
  AddFlagsWithoutEffect(command, flags, kIgnoredByAll);
  AddFlagsWithoutEffect(command, flags, without_effect);
}

std::optional<kube::LeaseSettings> LeaseOf(const ComponentFlags& flags) {
  if (!flags.leader_elect) return std::nullopt;
  kube::LeaseSettings lease;
  lease.space = flags.lease_space;
  lease.name = flags.lease_name;
  lease.identity = NewLeaseIdentity();
  lease.duration = ParseDuration(flags.lease_duration).value();
  lease.renew = ParseDuration(flags.lease_renew).value();
  lease.retry = ParseDuration(flags.lease_retry).value();
  return lease;
}

std::string NewLeaseIdentity() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", host.data(), random(), random());
}

int RunComponent(const std::string& name, const ComponentFlags& flags, const MakeComponent& make) {
  const Status status = Process(name, flags).Run(make);
  if (status) return 0;
  fmt::print(stderr, "{}\n", status.error().message);
  return 1;
}

}  // namespace strata
