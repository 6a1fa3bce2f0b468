#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "base/duration.h"
#include "controllers/controllers.h"
#include "kube/connection.h"
#include "obs/log.h"

namespace strata {
namespace {

constexpr const char* kControllersFooter = R"(
The controllers of Volcano's kinds: Jobs become PodGroups and pods, plain pods get PodGroups, queues
and HyperNodes their status, and HyperNodes are discovered as volcano-controller.conf says.

Examples:
  strata controllers --kubeconfig ~/.kube/config
  strata controllers --controller-conf volcano-controller.conf --leader-elect=false -v 3)";

// Volcano's flags that change nothing here; docs/differences.md says why.
constexpr std::array<const char*, 17> kIgnoredByControllers = {
    "--lock-object-namespace",
    "--ca-cert-file",
    "--tls-cert-file",
    "--tls-private-key-file",
    "--controllers",
    "--worker-threads-for-cronjob",
    "--worker-threads-for-podgroup",
    "--worker-threads-for-gc",
    "--worker-threads-for-queue",
    "--max-requeue-num",
    "--inherit-owner-annotations",
    "--detection-period-of-dependson-task",
    "--enable-pprof",
    "--enable-healthz",
    "--enable-metrics",
    "--healthz-address",
    "--listen-address"};

struct ControllersFlags {
  kube::ConnectionFlags connection;
  controllers::ControllersOptions options;
  bool leader_elect = true;
  std::string lease_space = "volcano-system";
  std::string lease_name = "vc-controller-manager";
  double qps = 50;
  double burst = 100;
  int verbosity = 0;
  std::string lease_duration = "15s";
  std::string lease_renew = "10s";
  std::string lease_retry = "2s";
  std::vector<std::string> without_effect;  // flags that were given
};

std::string Identity() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", host.data(), random(), random());
}

kube::LeaseSettings LeaseOf(const ControllersFlags& flags) {
  kube::LeaseSettings lease;
  lease.space = flags.lease_space;
  lease.name = flags.lease_name;
  lease.identity = Identity();
  lease.duration = ParseDuration(flags.lease_duration).value();
  lease.renew = ParseDuration(flags.lease_renew).value();
  lease.retry = ParseDuration(flags.lease_retry).value();
  return lease;
}

// For sigwait: before any thread is started, so that all of them have it.
sigset_t BlockEnds() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return ends;
}

int RunControllers(const ControllersFlags& flags) {
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t ends = BlockEnds();
  obs::StandardErrorSink sink;
  obs::Log log("controllers", kube::SystemClock(), {&sink});
  log.set_verbosity(flags.verbosity);
  for (const std::string& flag : flags.without_effect) {
    log.Warning("this flag has no effect here", {{"flag", flag}});
  }
  const kube::Surroundings outside = kube::SystemSurroundings();
  const auto fail = [](const Error& error) {
    fmt::print(stderr, "{}\n", error.message);
    return 1;
  };
  const auto config = kube::FindConnection(flags.connection, outside);
  if (!config) return fail(config.error());
  kube::ConnectionOptions connection_options;
  connection_options.user_agent = "vc-controller-manager";
  connection_options.write_rate = {flags.qps, flags.burst};
  const auto connection = kube::Connection::Open(*config, connection_options, outside);
  if (!connection) return fail(connection.error());

  controllers::ControllersOptions options = flags.options;
  if (flags.leader_elect) options.lease = LeaseOf(flags);
  controllers::Controllers made(
      (*connection)->client(), std::move(options), log, kube::SystemClock());
  std::stop_source stop;
  std::thread waiter([&] {
    int signal = 0;
    sigwait(&ends, &signal);
    stop.request_stop();
  });
  const Status status = made.Run(stop.get_token());
  if (!stop.stop_requested()) pthread_kill(waiter.native_handle(), SIGTERM);
  waiter.join();
  return status ? 0 : fail(status.error());
}

void AddDurationFlag(CLI::App& command, const char* flag, std::string& out, const char* what) {
  command.add_option(flag, out, fmt::format("{}; default: {}", what, out))
      ->type_name("DURATION")
      ->check([](const std::string& text) { return MessageOf(ParseDuration(text)); });
}

void AddElectionFlags(CLI::App& command, ControllersFlags& flags) {
  command
      .add_option(
          "--leader-elect", flags.leader_elect, "Work only while holding the lease; default: true")
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
                  "Of the lease; default: vc-controller-manager, which is Volcano's")
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

}  // namespace

void AddControllersCommand(CLI::App& app, Run& run) {
  CLI::App& command =
      *app.add_subcommand("controllers", "Run the controllers of Volcano's kinds on a cluster");
  command.footer(kControllersFooter);
  const auto flags = std::make_shared<ControllersFlags>();
  AddConnectionFlags(command, flags->connection);
  command
      .add_option("--controller-conf",
                  flags->options.conf_file,
                  "A volcano-controller.conf; default: the ConfigMap "
                  "volcano-system/volcano-controller-configmap")
      ->type_name("FILE");
  command
      .add_option("--scheduler-name",
                  flags->options.scheduler_names,
                  "Plain pods of this scheduler get a PodGroup; repeatable; default: volcano")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--worker-threads", flags->options.workers, "For each controller; default: 3")
      ->type_name("N")
      ->check(CLI::Range(1, 100).description(""));
  command.add_option("--kube-api-qps", flags->qps, "Writes per second; default: 50")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
  command.add_option("--kube-api-burst", flags->burst, "Writes at once; default: 100")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  AddElectionFlags(command, *flags);
  command.add_flag("--collect-garbage",
                   flags->options.collect_garbage,
                   "Delete what deleted owners left: for strata apiserver, which does not");
  command.add_option("-v", flags->verbosity, "How much is logged; default: 0")->type_name("N");
  for (const char* flag : kIgnoredByControllers) {
    command.add_option(flag, "Accepted, without effect")
        ->type_name("VALUE")
        ->expected(0, 1)
        ->each([&given = flags->without_effect, flag](const std::string&) {
          given.emplace_back(flag);
        });
  }
  command.callback([flags, &run] { run = [flags] { return RunControllers(*flags); }; });
}

}  // namespace strata
