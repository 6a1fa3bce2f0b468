#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "discovery/fabric.h"
#include "discovery/reader.h"
#include "model/name_pattern.h"

namespace strata::discovery {

// One neighbour on one interface.
struct LldpNeighbour {
  std::string interface;  // of the machine that reports
  std::string chassis;    // "" when it does not say
  std::string name;       // "" when it does not say
  std::string port;       // the neighbour's interface, as far as it says
  bool tells_capabilities = false;
  bool forwards = false;  // Bridge or Router is enabled

  bool operator==(const LldpNeighbour&) const = default;
};
using LldpReports = std::map<std::string, std::vector<LldpNeighbour>>;  // by the machine

// What `lldpctl -f json0` of one machine says. kInvalidArgument for any other text.
[[nodiscard]] Result<std::vector<LldpNeighbour>> ReadLldpReport(std::string_view text);

// The same of several. The error names the machine.
[[nodiscard]] Result<LldpReports> ReadLldpReports(const std::map<std::string, std::string>& texts);

// The fabric that hosts and switches see by LLDP.
//
// Nodes of the cluster are hosts. Any other machine is a switch when a neighbour says that it
// bridges or routes, or when it sees hosts; else a host that is not a node. Switches are told apart
// by chassis id. Machines of several names that claim one chassis id are `disputed`: they are left
// out, and no link leads to them. Only host interfaces that one of `interfaces` matches count, at
// either end of the link; none given means all.
[[nodiscard]] Fabric FabricOfLldp(const LldpReports& reports,
                                  const HostNames& names,
                                  const std::vector<NamePattern>& interfaces);

// The reports of the folder or the server that `config` names; none where it names neither.
[[nodiscard]] Result<LldpReports> ReadRoce(const RoceConfig& config,
                                           const Credentials& credentials,
                                           Reader& reader);

}  // namespace strata::discovery
