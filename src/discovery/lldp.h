#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "discovery/fabric.h"
#include "discovery/reader.h"
#include "model/name_pattern.h"

namespace strata::discovery {

// The fabric that hosts and switches see by LLDP: `lldpctl -f json0` of each, by its name.
//
// Nodes of the cluster are hosts. Any other machine is a switch when a neighbour says that it
// bridges or routes, or when it sees hosts; else a host that is not a node. Switches are told apart
// by chassis id. Only host interfaces that one of `interfaces` matches count, at either end of the
// link; none given means all.
//
// kInvalidArgument, with the name, for a text that is not json0.
[[nodiscard]] Result<Fabric> FabricOfLldp(const std::map<std::string, std::string>& texts,
                                          const HostNames& names,
                                          const std::vector<NamePattern>& interfaces);

// The same from the folder or the server that `config` names.
[[nodiscard]] Result<Fabric> ReadRoce(const RoceConfig& config,
                                      const Credentials& credentials,
                                      const HostNames& names,
                                      Reader& reader);

}  // namespace strata::discovery
