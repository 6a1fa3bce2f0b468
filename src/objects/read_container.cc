#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "objects/readers.h"
#include "objects/syntax.h"

namespace strata::objects {
namespace {

void ReadPort(const Cursor& at, ContainerPort& out) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kProtocols = {
      {{"TCP", "TCP"}, {"UDP", "UDP"}, {"SCTP", "SCTP"}}};
  constexpr IntRange kPort = {1, 65535};
  at.At("containerPort").Required().Read(out.container_port, kPort);
  at.At("hostPort").Read(out.host.port, {0, 65535});
  at.At("hostIP").Read(out.host.ip);
  std::string_view protocol = "TCP";
  at.At("protocol").ReadEnum(protocol, kProtocols);
  out.host.protocol = std::string(protocol);
}

bool IsNative(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
         name.starts_with("hugepages-");
}

// Extended resources and huge pages cannot be overcommitted.
bool MustEqualLimit(std::string_view name) {
  return IsExtendedResource(name) || name.starts_with("hugepages-");
}

void CheckNames(const Cursor& at, const ResourceList& amounts) {
  for (const auto& [name, amount] : amounts) {
    if (IsNative(name) || name.find('/') != std::string::npos) continue;
    at.At(name).Refuse(
        "unknown resource (want cpu, memory, ephemeral-storage, hugepages-<size> or a name with a "
        "domain such as nvidia.com/gpu)");
  }
}

void CheckRequestsAgainstLimits(const Cursor& requests, const Container& container) {
  for (const auto& [name, request] : container.requests) {
    const auto limit = container.limits.find(name);
    if (limit == container.limits.end()) continue;
    if (request > limit->second) {
      requests.At(name).Refuse(fmt::format(
          "{} is more than the limit {}", request.ToString(), limit->second.ToString()));
    } else if (request != limit->second && MustEqualLimit(name)) {
      requests.At(name).Refuse(
          fmt::format("{} must equal the limit {}", request.ToString(), limit->second.ToString()));
    }
  }
}

}  // namespace

void ReadContainer(const Cursor& at, Container& out) {
  constexpr std::array<std::pair<std::string_view, bool>, 3> kRestart = {
      {{"Always", true}, {"OnFailure", false}, {"Never", false}}};
  at.At("name").Required().Read(out.name);
  CheckDnsLabel(at.At("name"), out.name);
  at.At("image").Read(out.image);
  const Cursor resources = at.At("resources");
  const Cursor requests = resources.At("requests");
  const Cursor limits = resources.At("limits");
  ReadResources(requests, out.requests);
  ReadResources(limits, out.limits);
  CheckNames(requests, out.requests);
  CheckNames(limits, out.limits);
  CheckRequestsAgainstLimits(requests, out);
  out.requests.insert(out.limits.begin(), out.limits.end());
  at.At("ports").ReadList(out.ports, ReadPort);
  at.At("restartPolicy").ReadEnum(out.sidecar, kRestart);
}

}  // namespace strata::objects
