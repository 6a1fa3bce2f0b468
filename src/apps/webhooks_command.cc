#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/component_flags.h"
#include "apps/flags.h"
#include "apps/webhooks_flags.h"
#include "base/duration.h"
#include "component/component.h"
#include "component/listen_address.h"
#include "kube/connection.h"
#include "webhooks/webhooks.h"

namespace strata {
namespace {

constexpr const char* kWebhooksFooter = R"(
Volcano's admission: sets defaults in Jobs, Queues, PodGroups and HyperNodes and validates them, by
the rules of strata apiserver. Unless certificate files are given, it creates and renews its
certificates; with a Service they are kept in a Secret, which replicas share. It creates or updates
its webhook configurations, and prints "ready URL" when it serves and is registered.

Examples:
  strata webhooks --kubeconfig ~/.kube/config                     on this machine, by its URL
  strata webhooks --service volcano-system/strata-admission-service
  strata webhooks --service volcano-system/strata-admission-service --enable-healthz \
      --tls-cert-file tls.crt --tls-private-key-file tls.key --ca-cert-file ca.crt)";

// Volcano's flags that change nothing here; docs/differences.md says why.
constexpr std::array<const char*, 3> kIgnoredByWebhooks = {
    "--max-queue-depth", "--enable-root-queue-protection", "--feature-gates"};

Component MakeWebhooks(const WebhooksFlags& flags, kube::Client& client, obs::Log& log) {
  webhooks::WebhooksOptions options = flags.options;
  const auto enabled = webhooks::ParseEnabled(flags.enabled);
  options.webhooks = enabled->webhooks;
  for (const std::string& path : enabled->left_out) {
    log.Warning("webhook ignored: Strata does not have this kind", {{"path", path}});
  }
  const ListenAddress where = WhereToListen(flags);
  options.host = where.host;
  options.port = where.port;
  options.hosts = CertificateHosts(options.address, where);
  const bool served = !options.address.service_name.empty();
  if (options.secret.empty()) options.secret = SecretOf(options.address.service_name);
  options.delay = ParseDuration(flags.delay.empty() ? (served ? "5s" : "0s") : flags.delay).value();
  options.grace = ParseDuration(flags.grace).value();
  if (flags.keep_used_queues) options.used_queues = admission::UsedQueues::kStay;
  options.read = kube::SystemSurroundings().read;
  options.ready = [](const std::string& url) {
    fmt::print("ready {}\n", url);
    std::fflush(stdout);
  };
  const auto made =
      std::make_shared<webhooks::Webhooks>(client, std::move(options), log, kube::SystemClock());
  return {.run = [made](const std::stop_token& stop) { return made->Run(stop); },
          .metrics = [made] { return made->Metrics(); },
          .ready = [made] { return made->IsReady(); },
          .dump = {}};
}

void AddAddressFlags(CLI::App& command, WebhooksFlags& flags) {
  webhooks::Address& address = flags.options.address;
  command
      .add_option(
          "--listen",
          flags.listen,
          "Address and port to listen on; default: 0.0.0.0:8443 with a Service, else 127.0.0.1 "
          "and a free port")
      ->type_name("ADDRESS:PORT")
      ->check([](const std::string& text) { return MessageOf(ParseListenAddress(text)); });
  command.add_option("--listen-address", flags.listen_host, "Address of --listen, as in Volcano")
      ->type_name("ADDRESS");
  command.add_option("--port", flags.port, "Port of --listen, as in Volcano")
      ->type_name("PORT")
      ->check(CLI::Range(0, 65535).description(""));
  command
      .add_option(
          "--service", flags.service, "The Service by which the API server reaches the webhooks")
      ->type_name("NAMESPACE/NAME")
      ->check(CheckObjectName);
  command
      .add_option("--webhook-namespace",
                  address.service_namespace,
                  "Namespace of the Service, as in Volcano")
      ->type_name("NAMESPACE");
  command
      .add_option(
          "--webhook-service-name", address.service_name, "Name of the Service, as in Volcano")
      ->type_name("NAME");
  command
      .add_option(
          "--webhook-url",
          address.url,
          "The URL by which the API server reaches the webhooks; default: where they listen")
      ->type_name("URL")
      ->check(CheckUrl);
}

void AddCertificateFlags(CLI::App& command, WebhooksFlags& flags) {
  command
      .add_option("--tls-cert-file",
                  flags.files.certificate,
                  "Certificate to serve with, read again when it changes; default: a created one")
      ->type_name("FILE");
  command.add_option("--tls-private-key-file", flags.files.key, "Key of the certificate")
      ->type_name("FILE");
  command.add_option("--ca-cert-file", flags.files.authority, "CA that the API server trusts")
      ->type_name("FILE");
  command
      .add_option("--tls-secret",
                  flags.options.secret,
                  "Secret in which replicas share the created certificates; default: the name of "
                  "the Service with -secret instead of -service")
      ->type_name("NAME");
}

}  // namespace

void AddWebhooksCommand(CLI::App& app, Run& run) {
  CLI::App& command =
      *app.add_subcommand("webhooks", "Run Volcano's admission webhooks for an API server");
  command.footer(kWebhooksFooter);
  const auto flags = std::make_shared<WebhooksFlags>();
  AddServingFlags(command, flags->common, kIgnoredByWebhooks);
  AddAddressFlags(command, *flags);
  AddCertificateFlags(command, *flags);
  command
      .add_option("--enabled-admission",
                  flags->enabled,
                  "Paths of the enabled webhooks; default: " + flags->enabled)
      ->type_name("PATH,...")
      ->check([](const std::string& text) { return MessageOf(webhooks::ParseEnabled(text)); });
  command
      .add_option("--scheduler-name",
                  flags->options.scheduler_names,
                  "/pods/validate checks pods of this scheduler; the first name given is the "
                  "scheduler of Jobs that name none; repeatable; default: volcano")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_flag("--enable-queue-allocated-pods-check",
                   flags->keep_used_queues,
                   "Reject the deletion of a queue whose jobs have pods on nodes");
  command
      .add_option("--admission-conf",
                  flags->options.conf_file,
                  "A volcano-admission.conf with resource groups, for /pods/mutate")
      ->type_name("FILE");
  command
      .add_option(
          "--shutdown-delay-duration",
          flags->delay,
          "On shutdown, how long to serve while /readyz reports not ready; default: 5s with "
          "a Service, else 0s")
      ->type_name("DURATION")
      ->check([](const std::string& text) { return MessageOf(ParseDuration(text)); });
  AddDurationFlag(command,
                  "--graceful-shutdown-time",
                  flags->grace,
                  "After that, maximum time for reviews in progress");
  command.callback([flags, &run] {
    if (const Status status = CompleteFlags(*flags); !status) {
      throw CLI::ValidationError(status.error().message);
    }
    run = [flags] {
      return RunComponent("webhooks", flags->common, [flags](kube::Client& client, obs::Log& log) {
        return MakeWebhooks(*flags, client, log);
      });
    };
  });
}

}  // namespace strata
