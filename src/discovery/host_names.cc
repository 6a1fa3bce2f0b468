#include "discovery/host_names.h"

#include <array>

#include "base/ascii.h"
#include "discovery/naming.h"
#include "objects/syntax.h"

namespace strata::discovery {
namespace {

std::string Short(const std::string& name) {
  return name.substr(0, name.find('.'));
}

}  // namespace

HostNames::HostNames(std::span<const objects::Node> nodes) : knows_nodes_(true) {
  for (const objects::Node& node : nodes) {
    const std::string& name = node.meta.name;
    Claim(by_name_, name, name);
    Claim(by_short_name_, Short(name), name);
    if (const std::string* hostname = objects::Find(node.meta.labels, "kubernetes.io/hostname")) {
      Claim(by_hostname_, LowerCase(*hostname), name);
    }
    for (const std::string& address : node.internal_ips) Claim(by_address_, address, name);
  }
}

void HostNames::Claim(Index& index, const std::string& name, const std::string& node) {
  const auto [at, is_new] = index.emplace(name, node);
  if (!is_new && at->second != node) at->second.clear();
}

std::optional<std::string> HostNames::Find(std::string_view host) const {
  const std::string lower = LowerCase(host);
  if (!knows_nodes_) {
    if (lower == "localhost") return std::nullopt;
    std::string name = ValidName(lower);
    return objects::IsDnsSubdomain(name) ? std::optional(std::move(name)) : std::nullopt;
  }
  const std::array<std::pair<const Index*, std::string>, 4> ways = {
      {{&by_name_, lower},
       {&by_short_name_, Short(lower)},
       {&by_hostname_, lower},
       {&by_address_, lower}}};
  for (const auto& [index, key] : ways) {
    const auto found = index->find(key);
    if (found == index->end()) continue;
    return found->second.empty() ? std::nullopt : std::optional(found->second);
  }
  return std::nullopt;
}

}  // namespace strata::discovery
