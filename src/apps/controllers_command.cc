#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "apps/command_line.h"
#include "apps/component.h"
#include "controllers/controllers.h"
#include "kube/connection.h"

namespace strata {
namespace {

constexpr const char* kControllersFooter = R"(
The controllers of Volcano's kinds: Jobs become PodGroups and pods, plain pods get PodGroups, queues
and HyperNodes their status, and HyperNodes are discovered as volcano-controller.conf says.

Examples:
  strata controllers --kubeconfig ~/.kube/config
  strata controllers --controller-conf volcano-controller.conf --leader-elect=false -v 3)";

// Volcano's flags that change nothing here; docs/differences.md says why.
constexpr std::array<const char*, 15> kIgnoredByControllers = {
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
    "--leader-elect-resource-lock",
    "--enable-pprof"};

struct ControllersFlags {
  ControllersFlags() {
    common.lease_name = "vc-controller-manager";
    common.metrics_address = ":8081";
  }

  ComponentFlags common;
  controllers::ControllersOptions options;
};

Component MakeControllers(const ControllersFlags& flags, kube::Client& client, obs::Log& log) {
  controllers::ControllersOptions options = flags.options;
  options.lease = LeaseOf(flags.common);
  return ComponentOf(std::make_shared<controllers::Controllers>(
      client, std::move(options), log, kube::SystemClock()));
}

}  // namespace

void AddControllersCommand(CLI::App& app, Run& run) {
  CLI::App& command =
      *app.add_subcommand("controllers", "Run the controllers of Volcano's kinds on a cluster");
  command.footer(kControllersFooter);
  const auto flags = std::make_shared<ControllersFlags>();
  AddComponentFlags(command, flags->common, kIgnoredByControllers);
  command
      .add_option("--controller-conf",
                  flags->options.conf_file,
                  "A volcano-controller.conf; default: the ConfigMap "
                  "volcano-system/volcano-controller-configmap")
      ->type_name("FILE");
  command
      .add_option("--scheduler-name",
                  flags->options.scheduler_names,
                  "Plain pods of this scheduler get a PodGroup; the first is that of Jobs that "
                  "name none; repeatable; default: volcano")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--worker-threads", flags->options.workers, "For each controller; default: 3")
      ->type_name("N")
      ->check(CLI::Range(1, 100).description(""));
  command.add_flag("--collect-garbage",
                   flags->options.collect_garbage,
                   "Delete what deleted owners left: for strata apiserver, which does not");
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
