#include "component/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/ascii.h"

namespace strata {
namespace {

constexpr std::int64_t kLastPort = 65535;

bool IsIpV6(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool IsIpV4(const std::string& host) {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool IsEveryAddress(const std::string& host) {
  in6_addr address{};
  if (inet_pton(AF_INET6, host.c_str(), &address) == 1) return IN6_IS_ADDR_UNSPECIFIED(&address);
  return host == "0.0.0.0";
}

}  // namespace

bool ListenAddress::IsLoopback() const {
  in6_addr address{};
  if (inet_pton(AF_INET6, host.c_str(), &address) == 1) return IN6_IS_ADDR_LOOPBACK(&address);
  return host.starts_with("127.");
}

std::string ListenAddress::UrlHost() const {
  const bool v6 = IsIpV6(host);
  std::string reached = host;
  if (IsEveryAddress(host)) reached = v6 ? "::1" : "127.0.0.1";
  return (v6 ? "[" + reached + "]" : reached) + ":" + std::to_string(port);
}

std::vector<std::string> ListenAddress::CertificateHosts() const {
  std::vector<std::string> hosts = {"127.0.0.1", "::1", "localhost"};
  std::string own = host;
  if (IsEveryAddress(host)) {
    std::array<char, 256> name{};
    own = gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
  }
  const bool there = std::find(hosts.begin(), hosts.end(), own) != hosts.end();
  if (!own.empty() && !there) hosts.push_back(own);
  return hosts;
}

Result<ListenAddress> ParseListenAddress(const std::string& text) {
  const auto bad = [&text] {
    return Fail(Code::kInvalidArgument,
                "\"" + text + "\": want ADDRESS:PORT, such as 127.0.0.1:8443 or [::1]:0");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return bad();
  const std::optional<std::int64_t> port = WholeNumber(text.substr(colon + 1), kLastPort);
  std::string host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!port || !(bracketed ? IsIpV6(host) : IsIpV4(host))) return bad();
  return ListenAddress{.host = std::move(host), .port = static_cast<std::uint16_t>(*port)};
}

}  // namespace strata
