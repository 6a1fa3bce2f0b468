#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/component_flags.h"
#include "apps/flags.h"
#include "component/component.h"
#include "component/listen_address.h"
#include "kube/connection.h"
#include "page/access.h"
#include "page/page_server.h"

namespace strata {
namespace {

constexpr const char* kPageFooter = R"(
Shows a running cluster in the browser: what runs where, why jobs wait, what would fit. Reads only.
Prints "ready URL" when it has seen the cluster. The URL has a token, which the browser keeps for
its tab: the URL is all that it takes to read the cluster.

Examples:
  strata page
  strata page --kubeconfig ~/.local/state/strata/kubeconfig --listen 127.0.0.1:8090
  strata page --plain-http                      every user of this machine may look)";

struct PageFlags {
  PageFlags() { common.metrics_address = ":8082"; }

  ComponentFlags common;
  std::string listen = "127.0.0.1:0";
  bool no_token = false;
  page::PageOptions options;
};

void CheckPageFlags(const PageFlags& flags) {
  if (ParseListenAddress(flags.listen).value().IsLoopback()) return;
  throw CLI::ValidationError("--listen", "only a loopback address, not " + flags.listen);
}

Component MakePage(const PageFlags& flags, kube::Client& client, obs::Log& log) {
  page::PageOptions options = flags.options;
  const ListenAddress listen = ParseListenAddress(flags.listen).value();
  options.host = listen.host;
  options.port = listen.port;
  options.facts.version = STRATA_VERSION;
  if (const auto config =
          kube::FindConnection(flags.common.connection, kube::SystemSurroundings())) {
    options.facts.cluster = config->cluster.server;
  }
  if (!flags.no_token) options.token = page::NewToken();
  options.ready = [](const std::string& url) {
    fmt::print("ready {}\n", url);
    std::fflush(stdout);
  };
  return ComponentOf(
      std::make_shared<page::PageServer>(client, std::move(options), log, kube::SystemClock()));
}

}  // namespace

void AddPageCommand(CLI::App& app, Run& run) {
  CLI::App& command =
      *app.add_subcommand("page", "Show a running cluster in the browser, on this machine");
  command.footer(kPageFooter);
  const auto flags = std::make_shared<PageFlags>();
  AddReaderFlags(command, flags->common);
  command
      .add_option("--listen",
                  flags->listen,
                  "Loopback address and port to listen on; port 0 takes a free one; default: " +
                      flags->listen)
      ->type_name("ADDRESS:PORT")
      ->check([](const std::string& text) { return MessageOf(ParseListenAddress(text)); });
  command.add_flag("--plain-http", flags->no_token, "No token");
  command
      .add_option("--scheduler-conf-map",
                  flags->options.conf_map,
                  "The ConfigMap with the scheduler's configuration, by which queues share; "
                  "default: " +
                      flags->options.conf_map)
      ->type_name("NAMESPACE/NAME")
      ->check(CheckObjectName);
  command.callback([flags, &run] {
    CheckPageFlags(*flags);
    run = [flags] {
      return RunComponent("page", flags->common, [flags](kube::Client& client, obs::Log& log) {
        return MakePage(*flags, client, log);
      });
    };
  });
}

}  // namespace strata
