#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/component_flags.h"
#include "apps/flags.h"
#include "component/component.h"
#include "component/listen_address.h"
#include "kube/connection.h"
#include "net/certificate.h"
#include "page/access.h"
#include "page/page_server.h"

namespace strata {
namespace {

constexpr const char* kPageFooter = R"(
Shows a running cluster in the browser: what runs where, why jobs wait, what would fit. Reads only.
Prints "ready URL" when it has seen the cluster. On a loopback address the URL has a token, which the
browser keeps for its tab: the URL is all that it takes to read the cluster. On other addresses it
asks the API server who the owner of a token is and what that user may list, and shows no more.

Examples:
  strata page
  strata page --kubeconfig ~/.local/state/strata/kubeconfig --listen 127.0.0.1:8090
  strata page --plain-http                      every user of this machine may look
  strata page --listen 0.0.0.0:8443 --tls-cert-file tls.crt --tls-private-key-file tls.key)";

struct PageFlags {
  PageFlags() { common.metrics_address = ":8082"; }

  ComponentFlags common;
  std::string listen = "127.0.0.1:0";
  std::string access;  // "" for token on a loopback address, else kubernetes
  std::string certificate;
  std::string key;
  std::vector<std::string> hosts;
  bool no_token = false;
  page::PageOptions options;
};

constexpr const char* kToken = "token";
constexpr const char* kKubernetes = "kubernetes";

bool AsksKubernetes(const PageFlags& flags) {
  const bool is_loopback = ParseListenAddress(flags.listen).value().IsLoopback();
  return flags.access.empty() ? !is_loopback : flags.access == kKubernetes;
}

void CheckPageFlags(const PageFlags& flags) {
  const bool is_loopback = ParseListenAddress(flags.listen).value().IsLoopback();
  if (!is_loopback && !AsksKubernetes(flags)) {
    throw CLI::ValidationError("--access", "only kubernetes with --listen " + flags.listen);
  }
  if (AsksKubernetes(flags) && flags.no_token) {
    throw CLI::ValidationError("--plain-http", "not with --access kubernetes: tokens need TLS");
  }
  if (flags.certificate.empty() != flags.key.empty()) {
    throw CLI::ValidationError("--tls-cert-file", "want it together with --tls-private-key-file");
  }
}

Result<std::string> ReadPem(const std::string& path) {
  auto text = kube::SystemSurroundings().read(path);
  if (text) return *std::move(text);
  return tl::unexpected<Error>(std::move(text).error());
}

// From files, else one that nobody certified.
Result<net::ServerCertificate> CertificateOf(const PageFlags& flags) {
  net::ServerCertificate certificate;
  if (flags.certificate.empty()) {
    const Time now = kube::SystemClock().Now();
    TRY_ASSIGN(const net::CertificateAuthority authority,
               net::MakeAuthority("strata page", now, net::kTenYears));
    std::vector<std::string> hosts = flags.hosts;
    if (hosts.empty()) hosts = {"localhost", "127.0.0.1"};
    return net::IssueCertificate(authority, hosts, now, net::kTenYears);
  }
  TRY_ASSIGN(certificate.certificate_pem, ReadPem(flags.certificate));
  TRY_ASSIGN(certificate.key_pem, ReadPem(flags.key));
  return certificate;
}

// One that cannot be served with says why when it runs.
Component Failing(const Error& error) {
  return {
      .run = [error](const std::stop_token&) -> Status { return Fail(error.code, error.message); },
      .metrics = [] { return std::string(); },
      .ready = [] { return false; },
      .dump = {}};
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
  if (AsksKubernetes(flags)) {
    options.access = page::PageOptions::Access::kKubernetes;
    auto certificate = CertificateOf(flags);
    if (!certificate) return Failing(certificate.error());
    options.certificate = *std::move(certificate);
  } else if (!flags.no_token) {
    options.token = page::NewToken();
  }
  options.ready = [](const std::string& url) {
    fmt::print("ready {}\n", url);
    std::fflush(stdout);
  };
  return ComponentOf(
      std::make_shared<page::PageServer>(client, std::move(options), log, kube::SystemClock()));
}

void AddAccessFlags(CLI::App& command, PageFlags& flags) {
  command
      .add_option(
          "--access",
          flags.access,
          "What lets people look: token, the URL; kubernetes, their rights at the API server; "
          "default: token on a loopback address, else kubernetes")
      ->type_name("token|kubernetes")
      ->check(CLI::IsMember({kToken, kKubernetes}).description(""));
  command
      .add_option("--tls-cert-file",
                  flags.certificate,
                  "Certificate to serve with; default: a created one that nobody certified")
      ->type_name("FILE");
  command.add_option("--tls-private-key-file", flags.key, "Key of the certificate")
      ->type_name("FILE");
  command
      .add_option("--tls-host",
                  flags.hosts,
                  "A name or address in the created certificate; repeatable; default: localhost")
      ->type_name("HOST")
      ->allow_extra_args(false);
}

}  // namespace

void AddPageCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand("page", "Show a running cluster in the browser");
  command.footer(kPageFooter);
  const auto flags = std::make_shared<PageFlags>();
  AddReaderFlags(command, flags->common);
  command
      .add_option(
          "--listen",
          flags->listen,
          "Address and port to listen on; port 0 takes a free one; default: " + flags->listen)
      ->type_name("ADDRESS:PORT")
      ->check([](const std::string& text) { return MessageOf(ParseListenAddress(text)); });
  command.add_flag("--plain-http", flags->no_token, "No token");
  AddAccessFlags(command, *flags);
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
