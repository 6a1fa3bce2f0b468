#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "discovery/fabric.h"
#include "discovery/reader.h"

namespace strata::discovery {

// One entry of UFM's /resources/ports, as far as it matters here.
struct UfmPort {
  enum class Kind : std::uint8_t { kComputer, kSwitch, kOther } kind = Kind::kOther;
  std::string system;     // name
  std::string system_id;  // GUID, "" when it is not there
  std::string address;
  std::string peer;  // "" when there is none, or it is not known
  std::string peer_id;
  bool active = false;
};

// One answer: the plain list, or a page of it.
struct UfmPage {
  std::vector<UfmPort> ports;
  std::int64_t pages = 1;
  std::int64_t total = -1;  // ports on all pages; -1 when the answer does not say
};

[[nodiscard]] Result<UfmPage> ParseUfmPorts(const std::string& text);

// The fabric of the ports that are up at both ends as far as UFM says; ports that are down make no
// leaves, and their hosts are still known.
[[nodiscard]] Fabric FabricOfUfm(const std::vector<UfmPort>& ports);

// Asks the server for all pages. An answer with fewer ports than it promises is partial: an error.
[[nodiscard]] Result<Fabric> ReadUfm(const UfmConfig& config,
                                     const Credentials& credentials,
                                     Reader& reader);

}  // namespace strata::discovery
