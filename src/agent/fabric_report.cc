#include "agent/fabric_report.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "agent/sysfs.h"
#include "base/ascii.h"

namespace strata::agent {
namespace {

constexpr std::size_t kMaxLldpBytes = std::size_t{1} << 20U;
constexpr std::int64_t kMaxPort = 254;
constexpr std::int64_t kMaxLid = 0xffff;

// "4: ACTIVE" is ACTIVE.
std::string WordOf(const std::string& state) {
  const std::size_t colon = state.find(": ");
  return colon == std::string::npos ? state : state.substr(colon + 2);
}

std::int32_t LidOf(const std::string& text) {
  std::int64_t lid = 0;
  if (!text.starts_with("0x") || text.size() > 6) return 0;
  for (const char c : text.substr(2)) {
    const std::string_view digits = "0123456789abcdef";
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) return 0;
    lid = lid * 16 + static_cast<std::int64_t>(digit);
  }
  return static_cast<std::int32_t>(std::min(lid, kMaxLid));
}

// "fe80:0000:0000:0000:0002:c903:000a:0001": the prefix of the subnet, then the GUID of the port.
void ReadGid(std::string gid, discovery::AdapterPort& port) {
  std::erase(gid, ':');
  constexpr std::size_t kHalf = 16;
  if (gid.size() != 2 * kHalf) return;
  port.subnet = gid.substr(0, kHalf);
  port.guid = gid.substr(kHalf);
}

// The devices on the way from the root of the PCI tree: "pci0000:17", "0000:17:01.0", ...; none
// when there is no such device.
std::vector<std::string> PciPath(const std::string& link) {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::canonical(link, failed);
  if (failed) return {};
  std::vector<std::string> names;
  for (const auto& part : path) {
    const std::string name = part.string();
    if (name.starts_with("pci") || !names.empty()) names.push_back(name);
  }
  return names;
}

// In the words of `nvidia-smi topo -m`.
std::string LevelOf(const std::vector<std::string>& a,
                    const std::vector<std::string>& b,
                    bool same_numa) {
  const auto parts = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto common = std::distance(a.begin(), parts.first);
  if (common == 0) return same_numa ? "NODE" : "SYS";
  if (common == 1) return "PHB";
  // Each way down from the last common bridge has the device itself, and bridges before it.
  const bool one_switch =
      std::distance(parts.first, a.end()) <= 2 && std::distance(parts.second, b.end()) <= 2;
  return one_switch ? "PIX" : "PXB";
}

Result<std::vector<discovery::LldpNeighbour>> ReadLldp(const FabricOptions& options,
                                                       const os::Interrupt* interrupt) {
  const std::string& program = options.lldp_command.front();
  const os::ProcessCommand command{.words = options.lldp_command, .environment = {}};
  TRY_ASSIGN(const os::ProcessOutput run,
             os::RunProcess(command, {options.lldp_limit, kMaxLldpBytes}, interrupt));
  if (run.end != os::ProcessOutput::End::kExited) {
    return Fail(Code::kUnavailable, program + ": did not end in time");
  }
  if (run.exit_code != 0 || run.signal != 0) {
    return Fail(Code::kUnavailable,
                fmt::format("{}: {}", program, run.err.substr(0, run.err.find('\n'))));
  }
  auto neighbours = discovery::ReadLldpReport(run.out);
  if (!neighbours) return tl::unexpected(std::move(neighbours.error()).Context(program));
  return neighbours;
}

void AskLeaves(const FabricOptions& options, FabricReport& out) {
  const auto counts = [](const discovery::AdapterPort& port) {
    return port.link_layer != "Ethernet" && port.state != "DOWN";
  };
  auto& ports = out.report.ports;
  if (std::none_of(ports.begin(), ports.end(), counts)) return;
  Result<LeafQuery> query = LeafQuery::Load();
  if (!query) return out.problems.push_back("leaf switches: " + query.error().message);
  for (discovery::AdapterPort& port : ports) {
    if (!counts(port)) continue;
    const Result<Leaf> leaf = query->Ask(port.device, port.port, options.leaf_limit);
    if (leaf) {
      port.leaf = leaf->guid;
      port.leaf_name = leaf->description;
    } else {
      out.problems.push_back(leaf.error().message);
    }
  }
}

}  // namespace

std::vector<discovery::AdapterPort> ReadAdapterPorts(const std::string& sysfs) {
  std::vector<discovery::AdapterPort> ports;
  const std::string root = sysfs + "/class/infiniband";
  for (const std::string& device : ListSysfs(root)) {
    const std::string folder = fmt::format("{}/{}/ports", root, device);
    for (const std::string& name : ListSysfs(folder)) {
      const auto number = WholeNumber(name, kMaxPort);
      if (!number) continue;
      const std::string at = fmt::format("{}/{}/", folder, name);
      discovery::AdapterPort& port = ports.emplace_back();
      port.device = device;
      port.port = static_cast<std::int32_t>(*number);
      port.link_layer = ReadSysfs(at + "link_layer");
      port.state = WordOf(ReadSysfs(at + "state"));
      port.rate = ReadSysfs(at + "rate");
      port.lid = LidOf(ReadSysfs(at + "lid"));
      ReadGid(ReadSysfs(at + "gids/0"), port);
    }
  }
  return ports;
}

std::vector<discovery::AdapterDistance> ReadDistances(const std::string& sysfs,
                                                      const std::vector<std::string>& adapters,
                                                      const Machine& machine) {
  std::vector<discovery::AdapterDistance> distances;
  for (const std::string& adapter : adapters) {
    const std::string link = fmt::format("{}/class/infiniband/{}/device", sysfs, adapter);
    const std::vector<std::string> path = PciPath(link);
    if (path.empty()) continue;
    const std::string numa = ReadSysfs(link + "/numa_node");
    for (std::size_t i = 0; i < machine.node.gpus.size() && i < machine.bus_ids.size(); ++i) {
      const std::string gpu = fmt::format("{}/bus/pci/devices/{}", sysfs, machine.bus_ids[i]);
      const std::vector<std::string> gpu_path = PciPath(gpu);
      if (machine.bus_ids[i].empty() || gpu_path.empty()) continue;
      const bool same_numa = !numa.empty() && numa == ReadSysfs(gpu + "/numa_node");
      distances.push_back({.device = adapter,
                           .gpu = machine.node.gpus[i].uuid,
                           .level = LevelOf(path, gpu_path, same_numa)});
    }
  }
  return distances;
}

FabricReport ReadFabric(const FabricOptions& options,
                        const Machine& machine,
                        const os::Interrupt* interrupt) {
  FabricReport out;
  out.report.ports = ReadAdapterPorts(options.sysfs);
  AskLeaves(options, out);
  std::vector<std::string> adapters;
  for (const discovery::AdapterPort& port : out.report.ports) {
    if (adapters.empty() || adapters.back() != port.device) adapters.push_back(port.device);
  }
  out.report.distances = ReadDistances(options.sysfs, adapters, machine);
  if (!options.lldp_command.empty()) {
    auto neighbours = ReadLldp(options, interrupt);
    if (neighbours) {
      out.report.neighbours = std::move(*neighbours);
    } else {
      out.problems.push_back(neighbours.error().message);
    }
  }
  return out;
}

}  // namespace strata::agent
