#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "kube/connection.h"
#include "local_cluster/manifests.h"
#include "net/event_loop.h"
#include "virtual_nodes/generate.h"
#include "virtual_nodes/virtual_nodes.h"

namespace strata {
namespace {

constexpr const char* kVirtualNodesFooter = R"(
Acts as the kubelet of Nodes with the label strata.sh/virtual: "true": makes them Ready, renews
their Leases and runs the pods bound to them, without machines. Other Nodes are not touched.

Examples:
  strata virtual-nodes --generate spines=2,racks=4,nodes=8,gpus=8:hgxh100
  strata virtual-nodes --kubeconfig ~/.local/state/strata/kubeconfig)";

struct VirtualNodesFlags {
  kube::ConnectionFlags connection;
  std::optional<virtual_nodes::GenerateSpec> generate;
  int verbosity = 0;
};

Status RunUntilSignal(kube::Client& client, const VirtualNodesFlags& flags) {
  obs::StandardErrorSink sink;
  obs::Log log("virtual-nodes", kube::SystemClock(), {&sink});
  log.set_verbosity(flags.verbosity);
  virtual_nodes::Options options;
  options.ready = [] {
    fmt::print("ready\n");
    std::fflush(stdout);
  };
  virtual_nodes::VirtualNodes nodes(client, options, log, kube::SystemClock());
  net::EventLoop loop;
  loop.OnSignals({SIGINT, SIGTERM}, [&] { loop.Stop(); });
  Status outcome;
  {
    const std::jthread worker([&](const std::stop_token& stop) {
      outcome = nodes.Run(stop);
      loop.Stop();
    });
    loop.Run();
  }
  return outcome;
}

Status RunVirtualNodes(const VirtualNodesFlags& flags) {
  const kube::Surroundings outside = kube::SystemSurroundings();
  TRY_ASSIGN(const kube::ConnectionConfig config, kube::FindConnection(flags.connection, outside));
  kube::ConnectionOptions options;
  options.user_agent = "strata-virtual-nodes";
  TRY_ASSIGN(const std::unique_ptr<kube::Connection> connection,
             kube::Connection::Open(config, options, outside));
  if (flags.generate) {
    TRY(CreateGenerated(connection->client(), *flags.generate, kube::SystemClock().Now()));
  }
  return RunUntilSignal(connection->client(), flags);
}

}  // namespace

void AddVirtualNodesCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "virtual-nodes", "Run virtual nodes of a cluster: kubelets without machines");
  command.footer(kVirtualNodesFooter);
  const auto flags = std::make_shared<VirtualNodesFlags>();
  AddConnectionFlags(command, flags->connection);
  AddGenerateFlag(command, flags->generate);
  command.add_option("-v,--v", flags->verbosity, "Log verbosity, on standard error; default: 0")
      ->type_name("LEVEL")
      ->check(CLI::Range(0, 10).description(""));
  command.callback([flags, &run] {
    run = [flags] {
      const Status status = RunVirtualNodes(*flags);
      if (status) return 0;
      fmt::print(stderr, "{}\n", status.error().message);
      return 1;
    };
  });
}

}  // namespace strata
