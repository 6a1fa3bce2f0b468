#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "discovery/fabric.h"
#include "discovery/lldp.h"
#include "objects/node.h"

// What the network looks like from one machine: the annotation strata.sh/fabric, which strata-agent
// writes on its Node and the sources `infiniband` and `roce` read with `from: nodes`. Values.
namespace strata::discovery {

inline constexpr std::string_view kFabricAnnotation = "strata.sh/fabric";
inline constexpr std::size_t kMaxReportBytes = std::size_t{16} * 1024;

// A port of an adapter, in the words of /sys/class/infiniband.
struct AdapterPort {
  std::string device;  // "mlx5_0"
  std::int32_t port = 1;
  std::string link_layer;  // "InfiniBand", "Ethernet"
  std::string state;       // "ACTIVE"
  std::string rate;        // "400 Gb/sec (4X NDR)"
  std::string guid;        // 16 digits
  std::int32_t lid = 0;
  std::string subnet;     // the prefix, 16 digits
  std::string leaf;       // node GUID of the switch at the other end, 16 digits; "": not known
  std::string leaf_name;  // its description

  bool operator==(const AdapterPort&) const = default;
};

// How far an adapter is from a GPU, in the words of `nvidia-smi topo -m`: PIX, PXB, PHB, NODE, SYS.
struct AdapterDistance {
  std::string device;
  std::string gpu;  // UUID
  std::string level;

  bool operator==(const AdapterDistance&) const = default;
};

struct NodeReport {
  std::vector<AdapterPort> ports;
  std::vector<LldpNeighbour> neighbours;
  std::vector<AdapterDistance> distances;

  [[nodiscard]] bool empty() const {
    return ports.empty() && neighbours.empty() && distances.empty();
  }
  bool operator==(const NodeReport&) const = default;
};

// At most kMaxReportBytes: as many ports as fit, then neighbours, then distances.
[[nodiscard]] std::string NodeReportText(const NodeReport& report);
// kInvalidArgument for a text that is too long, or not of this form.
[[nodiscard]] Result<NodeReport> ReadNodeReport(std::string_view text);

struct NodeReports {
  std::map<std::string, NodeReport> reports;  // by node
  std::vector<std::string> silent;            // nodes without one
  std::vector<std::string> problems;          // "node-1: ...", of those that cannot be read
};
[[nodiscard]] NodeReports ReportsOf(std::span<const objects::Node> nodes);

// The links of InfiniBand ports that are up. Hosts see their leaf alone, so the fabric has no links
// between switches.
[[nodiscard]] Fabric FabricOfPorts(const std::map<std::string, NodeReport>& reports);
// What their neighbours are, for FabricOfLldp.
[[nodiscard]] LldpReports NeighboursOf(const std::map<std::string, NodeReport>& reports);

}  // namespace strata::discovery
