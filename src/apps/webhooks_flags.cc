#include "apps/webhooks_flags.h"

#include <cstdint>

#include <fmt/format.h>

namespace strata {
namespace {

// The "host" of "https://host:8443/path"; REQUIRES: `url` begins with "https://".
std::string HostOf(std::string_view url) {
  url.remove_prefix(std::string_view("https://").size());
  if (url.starts_with('[')) return std::string(url.substr(1, url.find(']') - 1));
  return std::string(url.substr(0, url.find_first_of(":/")));
}

tl::unexpected<Error> Contradiction(const char* flag, const char* problem) {
  return Fail(Code::kInvalidArgument, fmt::format("{}: {}", flag, problem));
}

}  // namespace

Status CompleteFlags(WebhooksFlags& flags) {
  webhooks::Address& address = flags.options.address;
  if (!flags.service.empty()) {
    const std::size_t slash = flags.service.find('/');
    address.service_namespace = flags.service.substr(0, slash);
    address.service_name = flags.service.substr(slash + 1);
  }
  if (address.service_namespace.empty() != address.service_name.empty()) {
    return Contradiction("--webhook-service-name", "requires --webhook-namespace");
  }
  if (!address.service_name.empty()) {
    address.own_namespace = address.service_namespace;
    if (!address.url.empty()) {
      return Contradiction("--webhook-url", "cannot be combined with a Service");
    }
  }
  const webhooks::CertificateFiles& files = flags.files;
  const bool any = !files.certificate.empty() || !files.key.empty() || !files.authority.empty();
  const bool all = !files.certificate.empty() && !files.key.empty() && !files.authority.empty();
  if (any && !all) {
    return Contradiction("--tls-cert-file", "requires --tls-private-key-file and --ca-cert-file");
  }
  if (all) flags.options.files = files;
  return {};
}

ListenAddress WhereToListen(const WebhooksFlags& flags) {
  if (!flags.listen.empty()) return ParseListenAddress(flags.listen).value();
  const bool has_service = !flags.options.address.service_name.empty();
  ListenAddress where{has_service ? "0.0.0.0" : "127.0.0.1",
                      static_cast<std::uint16_t>(has_service ? 8443 : 0)};
  if (!flags.listen_host.empty()) where.host = flags.listen_host;
  if (flags.port) where.port = static_cast<std::uint16_t>(*flags.port);
  return where;
}

std::vector<std::string> CertificateHosts(const webhooks::Address& address,
                                          const ListenAddress& where) {
  if (!address.service_name.empty()) {
    const std::string name = address.service_name + "." + address.service_namespace;
    return {name + ".svc", name, name + ".svc.cluster.local"};
  }
  std::vector<std::string> hosts = where.CertificateHosts();
  if (!address.url.empty()) hosts.insert(hosts.begin(), HostOf(address.url));
  return hosts;
}

std::string SecretOf(std::string_view service) {
  constexpr std::string_view kEnding = "-service";
  if (service.ends_with(kEnding)) service.remove_suffix(kEnding.size());
  return std::string(service) + "-secret";
}

std::string CheckUrl(const std::string& text) {
  const bool good = text.starts_with("https://") && !HostOf(text).empty();
  return good ? "" : "want https://HOST:PORT, not " + text;
}

}  // namespace strata
