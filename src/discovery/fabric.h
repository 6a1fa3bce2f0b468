#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "discovery/host_names.h"

namespace strata::discovery {

// Links of one pair, as each end counted them: a link that both ends report is one link.
struct LinkCount {
  std::int32_t from_first = 0;
  std::int32_t from_second = 0;

  [[nodiscard]] std::int32_t links() const { return std::max(from_first, from_second); }
};

// What a link-level source (InfiniBand, UFM, LLDP) saw: live links only. Switches are told apart by
// id (GUID, chassis), hosts by the name the fabric has for them. A plain value; ordered, so that
// the order of the input is gone.
struct Fabric {
  using Pair = std::pair<std::string, std::string>;

  std::map<std::string, std::string> switches;  // id -> name; the id where it has none
  std::map<std::string, std::string> hosts;     // name -> address, "" when it is not known
  std::map<Pair, LinkCount> host_links;         // (host, switch)
  std::map<Pair, LinkCount> switch_links;       // (lower id, higher id)
  std::size_t unnamed_hosts = 0;                // adapters that do not say whose they are
  // Machines that are left out because several say that they are the same one, by that identity.
  std::map<std::string, std::vector<std::string>> disputed;

  enum class Seen : std::uint8_t { kByHost, kBySwitch };

  void AddSwitch(const std::string& id, const std::string& name);
  void AddHost(const std::string& name, const std::string& address = "");
  // One more link. REQUIRES: both ends are added before the fabric is used.
  void LinkHost(const std::string& host, const std::string& switch_id, Seen seen);
  // The same, as the switch `from` reports it. A link of a switch with itself is ignored.
  void LinkSwitches(const std::string& from, const std::string& peer);
};

// `fabric` with the cluster's names for its hosts, and without those that are not nodes.
struct KnownFabric {
  Fabric fabric;
  std::vector<std::string> left_out;  // ascending
};
[[nodiscard]] KnownFabric KeepNodes(const Fabric& fabric, const HostNames& names);

}  // namespace strata::discovery
