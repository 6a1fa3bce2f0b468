#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "inspect/live_cluster.h"
#include "inspect/snapshot.h"

namespace strata {
namespace {

constexpr const char* kSnapshotFooter = R"(
Prints the objects that decisions depend on, as the API server returns them: nodes, HyperNodes,
queues, Jobs, PodGroups, pods, quotas, priorities, storage, and the scheduler's configuration.
Secrets are left out, but pods are printed with their environment variables.

Examples:
  strata snapshot | strata simulate -f -        what Strata would decide for this cluster
  strata snapshot --context prod > prod.json
  strata explain -f prod.json default/train)";

Status TakeSnapshot(const kube::ConnectionFlags& flags) {
  TRY_ASSIGN(const std::unique_ptr<inspect::LiveCluster> cluster,
             inspect::LiveCluster::Open(flags, kube::SystemSurroundings()));
  return inspect::WriteSnapshot(*cluster, WriteOut);
}

int RunSnapshot(const kube::ConnectionFlags& flags) {
  const Status status = TakeSnapshot(flags);
  if (status) return 0;
  fmt::print(stderr, "{}\n", status.error().message);
  return 1;
}

}  // namespace

void AddSnapshotCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "snapshot", "Print the running cluster as one JSON List, for -f of other commands");
  command.footer(kSnapshotFooter);
  const auto flags = std::make_shared<kube::ConnectionFlags>();
  AddConnectionFlags(command, *flags);
  command.callback([flags, &run] { run = [flags] { return RunSnapshot(*flags); }; });
}

}  // namespace strata
