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
#include "apps/component.h"
#include "apps/flags.h"
#include "apps/listen_address.h"
#include "base/duration.h"
#include "kube/connection.h"
#include "webhooks/webhooks.h"

namespace strata {
namespace {

constexpr const char* kWebhooksFooter = R"(
Volcano's admission: fills in and checks Jobs, Queues, PodGroups and HyperNodes for an API server, by
the rules of strata apiserver. Makes and renews its certificates (with a Service in a Secret, which
replicas share) unless files are given, makes or readdresses the webhook configurations, and prints
"ready URL" once it serves and is registered.

Examples:
  strata webhooks --kubeconfig ~/.kube/config                     on this machine, by its URL
  strata webhooks --service volcano-system/strata-admission-service
  strata webhooks --service volcano-system/strata-admission-service --enable-healthz \
      --tls-cert-file tls.crt --tls-private-key-file tls.key --ca-cert-file ca.crt)";

// Volcano's flags that change nothing here; docs/differences.md says why.
constexpr std::array<const char*, 4> kIgnoredByWebhooks = {"--enable-queue-allocated-pods-check",
                                                           "--max-queue-depth",
                                                           "--enable-root-queue-protection",
                                                           "--feature-gates"};

struct WebhooksFlags {
  ComponentFlags common;
  std::string listen;  // "" for the two below
  std::string listen_host;
  std::optional<int> port;
  std::string service;  // "NAMESPACE/NAME"
  std::string enabled{webhooks::kUsualWebhooks};
  std::string delay;  // "" for 5s with a service, where others may be asked instead, else none
  std::string grace = "30s";
  webhooks::CertificateFiles files;
  webhooks::WebhooksOptions options;
};

// With a Service others have to reach it; without, the API server is told of this machine alone.
ListenAddress WhereToListen(const WebhooksFlags& flags) {
  if (!flags.listen.empty()) return ParseListenAddress(flags.listen).value();
  const bool served = !flags.options.address.service_name.empty();
  ListenAddress where{served ? "0.0.0.0" : "127.0.0.1",
                      static_cast<std::uint16_t>(served ? 8443 : 0)};
  if (!flags.listen_host.empty()) where.host = flags.listen_host;
  if (flags.port) where.port = static_cast<std::uint16_t>(*flags.port);
  return where;
}

// The "host" of "https://host:8443/path".
std::string HostOf(std::string_view url) {
  url.remove_prefix(std::string_view("https://").size());
  if (url.starts_with('[')) return std::string(url.substr(1, url.find(']') - 1));
  return std::string(url.substr(0, url.find_first_of(":/")));
}

// The name that the API server asks for comes first.
std::vector<std::string> CertificateHosts(const webhooks::Address& address,
                                          const ListenAddress& where) {
  if (!address.service_name.empty()) {
    const std::string name = address.service_name + "." + address.service_space;
    return {name + ".svc", name, name + ".svc.cluster.local"};
  }
  std::vector<std::string> hosts = where.CertificateHosts();
  if (!address.url.empty()) hosts.insert(hosts.begin(), HostOf(address.url));
  return hosts;
}

// "x-admission-secret" of "x-admission-service", as Volcano's are called.
std::string SecretOf(std::string_view service) {
  constexpr std::string_view kEnding = "-service";
  if (service.ends_with(kEnding)) service.remove_suffix(kEnding.size());
  return std::string(service) + "-secret";
}

// What only the whole line can tell. Throws what the parser of the line throws.
void CompleteFlags(WebhooksFlags& flags) {
  webhooks::Address& address = flags.options.address;
  if (!flags.service.empty()) {
    const std::size_t slash = flags.service.find('/');
    address.service_space = flags.service.substr(0, slash);
    address.service_name = flags.service.substr(slash + 1);
  }
  if (address.service_space.empty() != address.service_name.empty()) {
    throw CLI::ValidationError("--webhook-service-name", "goes with --webhook-namespace");
  }
  if (!address.service_name.empty()) {
    address.own_space = address.service_space;
    if (!address.url.empty()) {
      throw CLI::ValidationError("--webhook-url", "goes without a service");
    }
  }
  const webhooks::CertificateFiles& files = flags.files;
  const bool any = !files.certificate.empty() || !files.key.empty() || !files.authority.empty();
  const bool all = !files.certificate.empty() && !files.key.empty() && !files.authority.empty();
  if (any && !all) {
    throw CLI::ValidationError("--tls-cert-file",
                               "goes with --tls-private-key-file and --ca-cert-file");
  }
  if (all) flags.options.files = files;
}

Component MakeWebhooks(const WebhooksFlags& flags, kube::Client& client, obs::Log& log) {
  webhooks::WebhooksOptions options = flags.options;
  const auto enabled = webhooks::ParseEnabled(flags.enabled);
  options.webhooks = enabled->webhooks;
  for (const std::string& path : enabled->left_out) {
    log.Warning("there is no such kind here, its webhook is left out", {{"path", path}});
  }
  const ListenAddress where = WhereToListen(flags);
  options.host = where.host;
  options.port = where.port;
  options.hosts = CertificateHosts(options.address, where);
  const bool served = !options.address.service_name.empty();
  if (options.secret.empty()) options.secret = SecretOf(options.address.service_name);
  options.delay = ParseDuration(flags.delay.empty() ? (served ? "5s" : "0s") : flags.delay).value();
  options.grace = ParseDuration(flags.grace).value();
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

std::string CheckService(const std::string& text) {
  const std::size_t slash = text.find('/');
  const bool good = slash != std::string::npos && slash > 0 && slash + 1 < text.size() &&
                    text.find('/', slash + 1) == std::string::npos;
  return good ? "" : "want NAMESPACE/NAME, not " + text;
}

std::string CheckUrl(const std::string& text) {
  const bool good = text.starts_with("https://") && !HostOf(text).empty();
  return good ? "" : "want https://HOST:PORT, not " + text;
}

void AddAddressFlags(CLI::App& command, WebhooksFlags& flags) {
  webhooks::Address& address = flags.options.address;
  command
      .add_option("--listen",
                  flags.listen,
                  "Default: 0.0.0.0:8443 with a service, else 127.0.0.1 and a free port")
      ->type_name("ADDRESS:PORT")
      ->check([](const std::string& text) { return MessageOf(ParseListenAddress(text)); });
  command.add_option("--listen-address", flags.listen_host, "The same, as Volcano has it")
      ->type_name("ADDRESS");
  command.add_option("--port", flags.port, "The same, as Volcano has it")
      ->type_name("PORT")
      ->check(CLI::Range(0, 65535).description(""));
  command.add_option("--service", flags.service, "By which the API server reaches this")
      ->type_name("NAMESPACE/NAME")
      ->check(CheckService);
  command.add_option("--webhook-namespace", address.service_space, "Of the service")
      ->type_name("NAMESPACE");
  command.add_option("--webhook-service-name", address.service_name, "Of the service")
      ->type_name("NAME");
  command
      .add_option("--webhook-url",
                  address.url,
                  "By which the API server reaches this; default: where it listens")
      ->type_name("URL")
      ->check(CheckUrl);
}

void AddCertificateFlags(CLI::App& command, WebhooksFlags& flags) {
  command
      .add_option("--tls-cert-file",
                  flags.files.certificate,
                  "What is shown, read again when it changes; default: made by itself")
      ->type_name("FILE");
  command.add_option("--tls-private-key-file", flags.files.key, "Its key")->type_name("FILE");
  command.add_option("--ca-cert-file", flags.files.authority, "What the API server is to trust")
      ->type_name("FILE");
  command
      .add_option("--tls-secret",
                  flags.options.secret,
                  "Where replicas of a service share what was made; default: as the service, with "
                  "-secret in place of -service")
      ->type_name("NAME");
}

}  // namespace

void AddWebhooksCommand(CLI::App& app, Run& run) {
  CLI::App& command =
      *app.add_subcommand("webhooks", "Check and complete Volcano's objects for an API server");
  command.footer(kWebhooksFooter);
  const auto flags = std::make_shared<WebhooksFlags>();
  AddServingFlags(command, flags->common, kIgnoredByWebhooks);
  AddAddressFlags(command, *flags);
  AddCertificateFlags(command, *flags);
  command
      .add_option("--enabled-admission",
                  flags->enabled,
                  "Which webhooks, by path; default: " + flags->enabled)
      ->type_name("PATH,...")
      ->check([](const std::string& text) { return MessageOf(webhooks::ParseEnabled(text)); });
  command
      .add_option("--scheduler-name",
                  flags->options.scheduler_names,
                  "Whose pods /pods/validate looks at; the first is that of Jobs that name none; "
                  "repeatable; default: volcano")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option("--admission-conf",
                  flags->options.conf_file,
                  "A volcano-admission.conf with resource groups, for /pods/mutate")
      ->type_name("FILE");
  command
      .add_option("--shutdown-delay-duration",
                  flags->delay,
                  "At the end, how long it still serves while it is not ready; default: 5s with a "
                  "service, else 0s")
      ->type_name("DURATION")
      ->check([](const std::string& text) { return MessageOf(ParseDuration(text)); });
  AddDurationFlag(
      command, "--graceful-shutdown-time", flags->grace, "For reviews under way, after that");
  command.callback([flags, &run] {
    CompleteFlags(*flags);
    run = [flags] {
      return RunComponent("webhooks", flags->common, [flags](kube::Client& client, obs::Log& log) {
        return MakeWebhooks(*flags, client, log);
      });
    };
  });
}

}  // namespace strata
