#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "component/debug_pages.h"
#include "component/listen_address.h"
#include "local_cluster/local_cluster.h"

namespace strata {
namespace {

constexpr const char* kUpFooter = R"(
Runs the API server, the controllers, the scheduler and virtual nodes in one process. Prints "ready
URL kubeconfig=FILE" when the objects of --generate and -f are stored and every component has seen
them. SIGINT and SIGTERM shut it down.

Examples:
  strata up --generate spines=2,racks=2,nodes=2
  strata up --generate spines=4,racks=8,nodes=16,gpus=8:hgxh100 --data-dir ~/strata-data
  strata up -f examples/training
  KUBECONFIG=~/.local/state/strata/kubeconfig kubectl get pods -o wide)";

int RunUp(const LocalClusterSettings& flags) {
  if (flags.server.plain_http) {
    fmt::print(stderr,
               "warning: plain HTTP without a token: every user of this machine has full access\n");
  }
  const Status status = RunLocalCluster(flags);
  if (status) return 0;
  fmt::print(stderr, "{}\n", status.error().message);
  return 1;
}

constexpr const char* kNoPage = "off";

void AddPageFlag(CLI::App& command, std::string& out) {
  out = "127.0.0.1:0";
  command
      .add_option_function<std::string>(
          "--page",
          [&out](const std::string& text) { out = text == kNoPage ? "" : text; },
          "Serve the page of `strata page` here, on a loopback address; its URL goes to standard "
          "error and into the file page beside the kubeconfig; default: 127.0.0.1:0")
      ->type_name("ADDRESS:PORT|off")
      ->check([](const std::string& text) {
        if (text == kNoPage) return std::string();
        const auto address = ParseListenAddress(text);
        if (!address) return address.error().message;
        return address->IsLoopback() ? std::string() : "only a loopback address, not " + text;
      });
}

void AddPagesFlag(CLI::App& command, const std::string& part, std::string& out) {
  command
      .add_option("--" + part + "-pages",
                  out,
                  "Serve /metrics, /healthz, /readyz and /debug/flags/v of the " + part + " here")
      ->type_name("ADDRESS:PORT")
      ->check([](const std::string& text) { return MessageOf(ParsePagesAddress(text)); });
}

}  // namespace

void AddUpCommand(CLI::App& app, Run& run) {
  CLI::App& command =
      *app.add_subcommand("up", "Run a whole cluster on this machine, with virtual nodes");
  command.footer(kUpFooter);
  const auto flags = std::make_shared<LocalClusterSettings>();
  AddServerFlags(command, flags->server);
  AddGenerateFlag(command, flags->generate);
  command
      .add_option("-f,--filename",
                  flags->files,
                  "Manifests to apply: a file (YAML or JSON), a directory, or -; repeatable")
      ->type_name("FILE|DIR|-")
      ->allow_extra_args(false)
      ->check(CheckPath);
  AddValidateFlag(command, flags->on_fault);
  command
      .add_option("--scheduler-conf",
                  flags->scheduler_conf,
                  "A volcano-scheduler.conf; default: ConfigMap "
                  "volcano-system/volcano-scheduler-configmap")
      ->type_name("FILE");
  command
      .add_option("--controller-conf",
                  flags->controller_conf,
                  "A volcano-controller.conf; default: ConfigMap "
                  "volcano-system/volcano-controller-configmap")
      ->type_name("FILE");
  AddPagesFlag(command, "scheduler", flags->scheduler_pages);
  AddPagesFlag(command, "controllers", flags->controllers_pages);
  AddPageFlag(command, flags->page);
  command
      .add_option(
          "-v,--v",
          flags->verbosity,
          "Log verbosity of the components, also on standard error; default: 3, in their logs "
          "only")
      ->type_name("LEVEL")
      ->check(CLI::Range(0, 10).description(""));
  command.callback([flags, &run] {
    CheckServerFlags(flags->server);
    run = [flags] { return RunUp(*flags); };
  });
}

}  // namespace strata
