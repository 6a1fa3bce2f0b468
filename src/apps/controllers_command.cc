#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "apps/command_line.h"
#include "apps/component_flags.h"
#include "component/component.h"
#include "controllers/controllers.h"
#include "discovery/permissions.h"
#include "kube/connection.h"

namespace strata {
namespace {

constexpr const char* kControllersFooter = R"(
Runs the controllers of Volcano's kinds. They create the PodGroup and the pods of each Job, create
PodGroups for plain pods, update the status of queues and HyperNodes, and discover HyperNodes as
volcano-controller.conf says.

Examples:
  strata controllers --kubeconfig ~/.kube/config
  strata controllers --controller-conf volcano-controller.conf --leader-elect=false -v 3
  strata controllers --discovery-allow /usr/sbin/ibnetdiscover --discovery-allow /var/lib/lldp/)";

// Volcano's flags that change nothing here; docs/differences.md says why.
constexpr std::array<const char*, 14> kIgnoredByControllers = {
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
    "--feature-gates",
    "--enable-pprof"};

struct ControllersFlags {
  ControllersFlags() {
    common.lease_name = "vc-controller-manager";
    common.metrics_address = ":8081";
  }

  ComponentFlags common;
  controllers::ControllersOptions options;
};

std::string CheckAllowedPath(const std::string& path) {
  const auto permissions = discovery::Permissions::Only({path}, "");
  return permissions ? "" : permissions.error().message;
}

Component MakeControllers(const ControllersFlags& flags, kube::Client& client, obs::Log& log) {
  controllers::ControllersOptions options = flags.options;
  options.lease = LeaseOf(flags.common);
  return ComponentOf(std::make_shared<controllers::Controllers>(
      client, std::move(options), log, kube::SystemClock()));
}

}  // namespace

void AddControllersCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "controllers", "Run the controllers of Volcano's kinds for a running cluster");
  command.footer(kControllersFooter);
  const auto flags = std::make_shared<ControllersFlags>();
  AddComponentFlags(command, flags->common, kIgnoredByControllers);
  command
      .add_option("--controller-conf",
                  flags->options.conf_file,
                  "A volcano-controller.conf; default: the ConfigMap of --controller-conf-map")
      ->type_name("FILE");
  command
      .add_option("--controller-conf-map",
                  flags->options.conf_map,
                  "The ConfigMap with the configuration, in the key volcano-controller.conf; "
                  "default: " +
                      flags->options.conf_map)
      ->type_name("NAMESPACE/NAME")
      ->check(CheckObjectName);
  command
      .add_option("--discovery-allow",
                  flags->options.discovery_allow,
                  "A program that discovery sources may run, or, with / at its end, a folder whose "
                  "files they may read; repeatable; default: none")
      ->type_name("PATH")
      ->allow_extra_args(false)
      ->check(CheckAllowedPath);
  command
      .add_option("--scheduler-name",
                  flags->options.scheduler_names,
                  "Create PodGroups for plain pods of this scheduler; the first name given is the "
                  "scheduler of Jobs that name none; repeatable; default: volcano")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option("--worker-threads",
                  flags->options.workers,
                  "Worker threads of each controller; default: 3")
      ->type_name("N")
      ->check(CLI::Range(1, 100).description(""));
  command.add_flag(
      "--collect-garbage",
      flags->options.collect_garbage,
      "Delete objects whose owners are gone, for strata apiserver, which does not do that");
  command.add_flag("--keep-budgets",
                   flags->options.keep_budgets,
                   "Keep the status of PodDisruptionBudgets, likewise");
  command.callback([flags, &run] {
    run = [flags] {
      return RunComponent(
          "controllers", flags->common, [flags](kube::Client& client, obs::Log& log) {
            return MakeControllers(*flags, client, log);
          });
    };
  });
}

}  // namespace strata
