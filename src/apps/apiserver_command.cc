#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "local_cluster/embedded_api_server.h"

namespace strata {
namespace {

constexpr const char* kApiserverFooter = R"(
Prints "ready URL kubeconfig=FILE" when it serves. SIGINT and SIGTERM shut it down.

Examples:
  strata apiserver                              in memory, on a free port of 127.0.0.1
  strata apiserver --data-dir ~/strata-data --listen 127.0.0.1:8443
  kubectl --kubeconfig ~/.local/state/strata/kubeconfig get nodes)";

int RunApiserver(const ServerSettings& flags) {
  if (flags.plain_http) {
    fmt::print(stderr,
               "warning: plain HTTP without a token: every user of this machine has full access\n");
  }
  EmbeddedApiServer server(flags);
  const Status status =
      server.Run({}, {.serving = [&server] { server.PrintReady(); }, .interrupted = {}});
  if (status) return 0;
  fmt::print(stderr, "{}\n", status.error().message);
  return 1;
}

}  // namespace

void AddApiserverCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "apiserver", "Serve the Kubernetes API from this machine, with Volcano's kinds");
  command.footer(kApiserverFooter);
  const auto flags = std::make_shared<ServerSettings>();
  AddServerFlags(command, *flags);
  command.callback([flags, &run] {
    CheckServerFlags(*flags);
    run = [flags] { return RunApiserver(*flags); };
  });
}

}  // namespace strata
