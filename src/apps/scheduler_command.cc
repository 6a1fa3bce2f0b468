#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/debug_pages.h"
#include "apps/flags.h"
#include "base/duration.h"
#include "kube/connection.h"
#include "live/live_scheduler.h"
#include "net/event_loop.h"
#include "obs/log.h"

namespace strata {
namespace {

constexpr const char* kSchedulerFooter = R"(
The flags are Volcano's. Configuration is read again when it changes; SIGUSR2 writes what the
scheduler knows into a file.

Examples:
  strata scheduler --kubeconfig ~/.kube/config
  strata scheduler --scheduler-conf volcano-scheduler.conf --leader-elect=false -v 4
  strata scheduler --enable-metrics --enable-healthz)";

// Volcano's flags that change nothing here; docs/differences.md says why.
constexpr std::array<const char*, 19> kWithoutEffect = {"--lock-object-namespace",
                                                        "--resync-period",
                                                        "--priority-class",
                                                        "--minimum-feasible-nodes",
                                                        "--minimum-percentage-nodes-to-find",
                                                        "--percentage-nodes-to-find",
                                                        "--plugins-dir",
                                                        "--csi-storage",
                                                        "--enable-pprof",
                                                        "--node-selector",
                                                        "--cache-dumper",
                                                        "--node-worker-threads",
                                                        "--gate-removal-worker-num",
                                                        "--ignored-provisioners",
                                                        "--resource-sync-timeout",
                                                        "--disable-default-scheduler-config",
                                                        "--scheduler-sharding-mode",
                                                        "--scheduler-sharding-name",
                                                        "--feature-gates"};

struct SchedulerFlags {
  kube::ConnectionFlags connection;
  live::SchedulerOptions options;
  std::string period = "1s";
  double write_rate = 2000;
  double write_burst = 2000;
  int verbosity = 0;
  bool leader_elect = true;
  std::string lease_space = "volcano-system";
  std::string lease_name;  // "": that of the scheduler
  std::string lease_duration = "15s";
  std::string lease_renew = "10s";
  std::string lease_retry = "2s";
  bool metrics = false;
  bool healthz = false;
  std::string metrics_address = ":8080";
  std::string healthz_address = ":11251";
  bool metrics_address_given = false;
  bool healthz_address_given = false;
  std::vector<std::string> without_effect;  // flags that were given
};

// New for every process.
std::string Identity() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", host.data(), random(), random());
}

kube::LeaseSettings LeaseOf(const SchedulerFlags& flags) {
  const auto& names = flags.options.scheduler_names;
  kube::LeaseSettings lease;
  lease.space = flags.lease_space;
  lease.name = flags.lease_name;
  if (lease.name.empty()) lease.name = names.size() == 1 ? names.front() : "volcano";
  lease.identity = Identity();
  lease.duration = ParseDuration(flags.lease_duration).value();
  lease.renew = ParseDuration(flags.lease_renew).value();
  lease.retry = ParseDuration(flags.lease_retry).value();
  return lease;
}

// The scheduler on a thread of its own; signals and pages on this one.
class SchedulerProcess {
 public:
  explicit SchedulerProcess(const SchedulerFlags& flags)
      : flags_(flags), log_("scheduler", kube::SystemClock(), {&sink_}) {
    log_.set_verbosity(flags.verbosity);
  }

  Status Run() {
    std::signal(SIGPIPE, SIG_IGN);
    for (const std::string& flag : flags_.without_effect) {
      log_.Warning("this flag has no effect here", {{"flag", flag}});
    }
    const kube::Surroundings outside = kube::SystemSurroundings();
    TRY_ASSIGN(const kube::ConnectionConfig config,
               kube::FindConnection(flags_.connection, outside));
    kube::ConnectionOptions options;
    options.user_agent = "strata-scheduler";
    options.write_rate = {flags_.write_rate, flags_.write_burst};
    TRY_ASSIGN(const std::unique_ptr<kube::Connection> connection,
               kube::Connection::Open(config, options, outside));
    live::LiveScheduler scheduler(connection->client(), Options(), log_, kube::SystemClock());
    TRY(Serve(scheduler));
    loop_.OnSignals({SIGINT, SIGTERM}, [this] { stop_.request_stop(); });
    loop_.OnSignals({SIGUSR2}, [&scheduler] { scheduler.DumpCache(); });
    Status outcome;
    std::thread thread([&] {
      outcome = scheduler.Run(stop_.get_token());
      loop_.Stop();
    });
    loop_.Run();
    thread.join();
    servers_.clear();
    return outcome;
  }

 private:
  live::SchedulerOptions Options() {
    live::SchedulerOptions options = flags_.options;
    options.schedule_period = ParseDuration(flags_.period).value();
    if (flags_.leader_elect) options.lease = LeaseOf(flags_);
    options.ready = [this] { log_.Info("ready"); };
    return options;
  }

  Status Serve(live::LiveScheduler& scheduler) {
    const DebugSources sources{.metrics = [&scheduler] { return scheduler.Metrics(); },
                               .ready = [&scheduler] { return scheduler.IsReady(); },
                               .log = &log_};
    if (flags_.metrics) TRY(Listen(flags_.metrics_address, flags_.metrics_address_given, sources));
    if (flags_.healthz) TRY(Listen(flags_.healthz_address, flags_.healthz_address_given, sources));
    return {};
  }

  // A default address that is taken is no reason not to schedule.
  Status Listen(const std::string& address, bool given, const DebugSources& sources) {
    auto server = ServeDebugPages(loop_, address, sources);
    if (server) {
      log_.Info("serving pages", {{"port", (*server)->port()}});
      servers_.push_back(*std::move(server));
      return {};
    }
    if (given) return tl::unexpected<Error>(std::move(server).error());
    log_.Warning("pages are not served", {{"err", server.error().message}});
    return {};
  }

  const SchedulerFlags& flags_;
  obs::StandardErrorSink sink_;
  obs::Log log_;
  std::stop_source stop_;
  net::EventLoop loop_;
  std::vector<std::unique_ptr<net::HttpServer>> servers_;
};

void AddDuration(CLI::App& command, const char* flag, std::string& out, const char* what) {
  command.add_option(flag, out, fmt::format("{}; default: {}", what, out))
      ->type_name("DURATION")
      ->check([](const std::string& text) { return MessageOf(ParseDuration(text)); });
}

void AddLeaseFlags(CLI::App& command, SchedulerFlags& flags) {
  command
      .add_option("--leader-elect",
                  flags.leader_elect,
                  "Schedule only while holding the lease; default: true")
      ->type_name("BOOL")
      ->expected(0, 1)
      ->default_str("true");
  command
      .add_option("--leader-elect-resource-namespace",
                  flags.lease_space,
                  "Of the lease; default: volcano-system")
      ->type_name("NAMESPACE");
  command
      .add_option("--leader-elect-resource-name",
                  flags.lease_name,
                  "Of the lease; default: the scheduler's, which is Volcano's")
      ->type_name("NAME");
  AddDuration(command,
              "--leader-elect-lease-duration",
              flags.lease_duration,
              "How long others leave the lease alone");
  AddDuration(command,
              "--leader-elect-renew-deadline",
              flags.lease_renew,
              "How long it schedules without renewing it");
  AddDuration(
      command, "--leader-elect-retry-period", flags.lease_retry, "Between two attempts at it");
}

void AddPageFlags(CLI::App& command, SchedulerFlags& flags) {
  command.add_flag("--enable-metrics", flags.metrics, "Serve /metrics on --listen-address");
  command.add_flag("--enable-healthz", flags.healthz, "Serve /healthz on --healthz-address");
  command.add_option("--listen-address", flags.metrics_address, "Of /metrics; default: :8080")
      ->type_name("ADDRESS:PORT")
      ->each([&flags](const std::string&) { flags.metrics_address_given = true; });
  command
      .add_option(
          "--healthz-address", flags.healthz_address, "Of /healthz and /readyz; default: :11251")
      ->type_name("ADDRESS:PORT")
      ->each([&flags](const std::string&) { flags.healthz_address_given = true; });
  command.add_option("-v", flags.verbosity, "How much is logged, 0 to 5; default: 0")
      ->type_name("N");
}

}  // namespace

void AddSchedulerCommand(CLI::App& app, Run& run) {
  CLI::App& command =
      *app.add_subcommand("scheduler", "Schedule a running cluster in Volcano's place");
  command.footer(kSchedulerFooter);
  const auto flags = std::make_shared<SchedulerFlags>();
  AddConnectionFlags(command, flags->connection);
  command.add_option("--master", flags->connection.server, "Address of the API server")
      ->type_name("URL");
  command
      .add_option("--scheduler-conf",
                  flags->options.conf_file,
                  "A volcano-scheduler.conf; default: the ConfigMap "
                  "volcano-system/volcano-scheduler-configmap")
      ->type_name("FILE");
  command
      .add_option("--scheduler-name",
                  flags->options.scheduler_names,
                  "Schedule pods that name this; repeatable; default: volcano")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option("--default-queue",
                  flags->options.default_queue,
                  "Made where it is missing; default: default")
      ->type_name("NAME");
  AddDuration(command, "--schedule-period", flags->period, "Least time from cycle to cycle");
  command.add_option("--kube-api-qps", flags->write_rate, "Writes per second; default: 2000")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
  command.add_option("--kube-api-burst", flags->write_burst, "Writes at once; default: 2000")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  command
      .add_option("--cache-dump-dir", flags->options.cache_dump_dir, "For SIGUSR2; default: /tmp")
      ->type_name("DIR");
  AddLeaseFlags(command, *flags);
  AddPageFlags(command, *flags);
  for (const char* flag : kWithoutEffect) {
    command.add_option(flag, "Accepted, without effect")
        ->type_name("VALUE")
        ->expected(0, 1)
        ->each([&given = flags->without_effect, flag](const std::string&) {
          given.emplace_back(flag);
        });
  }
  command.callback([flags, &run] {
    run = [flags] {
      const Status status = SchedulerProcess(*flags).Run();
      if (status) return 0;
      fmt::print(stderr, "{}\n", status.error().message);
      return 1;
    };
  });
}

}  // namespace strata
