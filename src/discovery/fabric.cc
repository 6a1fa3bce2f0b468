#include "discovery/fabric.h"

#include <optional>

namespace strata::discovery {

void Fabric::AddSwitch(const std::string& id, const std::string& name) {
  std::string& known = switches[id];
  if (known.empty() || known == id) known = name.empty() ? id : name;
}

void Fabric::AddHost(const std::string& name, const std::string& address) {
  std::string& known = hosts[name];
  if (known.empty()) known = address;
}

void Fabric::LinkHost(const std::string& host, const std::string& switch_id, Seen seen) {
  LinkCount& count = host_links[{host, switch_id}];
  ++(seen == Seen::kByHost ? count.from_first : count.from_second);
}

void Fabric::LinkSwitches(const std::string& from, const std::string& peer) {
  if (from == peer) return;
  LinkCount& count = switch_links[{std::min(from, peer), std::max(from, peer)}];
  ++(from < peer ? count.from_first : count.from_second);
}

KnownFabric KeepNodes(const Fabric& fabric, const HostNames& names) {
  KnownFabric known;
  known.fabric.switches = fabric.switches;
  known.fabric.switch_links = fabric.switch_links;
  known.fabric.unnamed_hosts = fabric.unnamed_hosts;
  std::map<std::string, std::string> node_of;
  for (const auto& [host, address] : fabric.hosts) {
    std::optional<std::string> node = names.Find(host);
    if (!node && !address.empty() && names.knows_nodes()) node = names.Find(address);
    if (!node) {
      known.left_out.push_back(host);
      continue;
    }
    known.fabric.AddHost(*node);
    node_of.emplace(host, std::move(*node));
  }
  for (const auto& [pair, count] : fabric.host_links) {
    const auto node = node_of.find(pair.first);
    if (node == node_of.end()) continue;
    // Two names of one host: each saw links of its own.
    LinkCount& sum = known.fabric.host_links[{node->second, pair.second}];
    sum.from_first += count.from_first;
    sum.from_second += count.from_second;
  }
  return known;
}

}  // namespace strata::discovery
