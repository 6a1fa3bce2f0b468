#pragma once

#include <string>

#include "base/result.h"
#include "discovery/host_names.h"
#include "discovery/reader.h"
#include "discovery/tree.h"

namespace strata::discovery {

// The tree of a graph as topograph's engine `graph` prints it: {"instances": [{"id": node,
// "network_layers": [closest first]}]}. Instances that are not nodes are left out and counted in
// `left_out`. kInvalidArgument with the field for anything else.
[[nodiscard]] Result<Tree> ParseTopograph(const std::string& text,
                                          const HostNames& names,
                                          std::size_t& left_out);

// The graph from the file, or from the server: one request to generate it, then asked for until it
// is there.
[[nodiscard]] Result<std::string> ReadTopograph(const TopographConfig& config,
                                                const Credentials& credentials,
                                                Reader& reader);

}  // namespace strata::discovery
