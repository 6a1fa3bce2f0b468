#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "apps/command_line.h"
#include "apps/component_flags.h"
#include "base/duration.h"
#include "component/component.h"
#include "kube/connection.h"
#include "live/live_scheduler.h"

namespace strata {
namespace {

constexpr const char* kSchedulerFooter = R"(
The flags are Volcano's. The configuration is read again when it changes. SIGUSR2 dumps the
scheduler's cache into a text file, SIGUSR1 into a JSON file.

Examples:
  strata scheduler --kubeconfig ~/.kube/config
  strata scheduler --scheduler-conf volcano-scheduler.conf --leader-elect=false -v 4
  strata scheduler --enable-metrics --enable-healthz)";

// Volcano's flags that change nothing here; docs/differences.md says why.
constexpr std::array<const char*, 22> kIgnoredByScheduler = {"--lock-object-namespace",
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
                                                             "--feature-gates",
                                                             "--ca-cert-file",
                                                             "--tls-cert-file",
                                                             "--tls-private-key-file"};

struct SchedulerFlags {
  SchedulerFlags() {
    common.write_rate = 2000;
    common.write_burst = 2000;
  }

  ComponentFlags common;
  live::SchedulerOptions options;
  std::string period = "1s";
};

// The lease is Volcano's: named as the scheduler, where it has one name.
std::optional<kube::LeaseSettings> SchedulerLease(const SchedulerFlags& flags) {
  std::optional<kube::LeaseSettings> lease = LeaseOf(flags.common);
  const auto& names = flags.options.scheduler_names;
  if (lease && lease->name.empty()) lease->name = names.size() == 1 ? names.front() : "volcano";
  return lease;
}

Component MakeScheduler(const SchedulerFlags& flags, kube::Client& client, obs::Log& log) {
  live::SchedulerOptions options = flags.options;
  options.schedule_period = ParseDuration(flags.period).value();
  options.lease = SchedulerLease(flags);
  options.ready = [&log] { log.Info("ready"); };
  const auto scheduler =
      std::make_shared<live::LiveScheduler>(client, std::move(options), log, kube::SystemClock());
  Component component = ComponentOf(scheduler);
  component.dump = [scheduler] { scheduler->DumpCache(live::DumpForm::kText); };
  component.snapshot = [scheduler] { scheduler->DumpCache(live::DumpForm::kJson); };
  return component;
}

}  // namespace

void AddSchedulerCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "scheduler", "Run the scheduler of a running cluster, in place of Volcano's");
  command.footer(kSchedulerFooter);
  const auto flags = std::make_shared<SchedulerFlags>();
  AddComponentFlags(command, flags->common, kIgnoredByScheduler);
  command
      .add_option("--scheduler-conf",
                  flags->options.conf_file,
                  "A volcano-scheduler.conf; default: the ConfigMap of --scheduler-conf-map")
      ->type_name("FILE");
  command
      .add_option("--scheduler-conf-map",
                  flags->options.conf_map,
                  "The ConfigMap with the configuration, in the key volcano-scheduler.conf or the "
                  "only *.conf; default: " +
                      flags->options.conf_map)
      ->type_name("NAMESPACE/NAME")
      ->check(CheckObjectName);
  command
      .add_option("--scheduler-name",
                  flags->options.scheduler_names,
                  "Schedule the pods with this schedulerName; repeatable; default: volcano")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option("--default-queue",
                  flags->options.default_queue,
                  "The queue of PodGroups that name none; created if it is missing; "
                  "default: default")
      ->type_name("NAME");
  AddDurationFlag(command, "--schedule-period", flags->period, "Minimum time between two cycles");
  command
      .add_option("--cache-dump-dir",
                  flags->options.cache_dump_dir,
                  "Where SIGUSR1 and SIGUSR2 dump the cache; default: /tmp")
      ->type_name("DIR");
  command.callback([flags, &run] {
    run = [flags] {
      return RunComponent("scheduler", flags->common, [flags](kube::Client& client, obs::Log& log) {
        return MakeScheduler(*flags, client, log);
      });
    };
  });
}

}  // namespace strata
