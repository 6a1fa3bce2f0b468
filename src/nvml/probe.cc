#include "nvml/probe.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata::nvml {
namespace {

constexpr std::int32_t kSharesPerGpu = 10;

template <std::size_t kSize>
std::string TextOf(const std::array<char, kSize>& text) {
  return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}

PcieLevel LevelOf(int ancestor) {
  switch (ancestor) {
    case 0:
      return PcieLevel::kSameBoard;
    case 10:
      return PcieLevel::kSingleSwitch;
    case 20:
      return PcieLevel::kMultiSwitch;
    case 30:
      return PcieLevel::kHostBridge;
    case 40:
      return PcieLevel::kNode;
    case 50:
      return PcieLevel::kSystem;
    default:
      return PcieLevel::kUnknown;
  }
}

class Prober {
 public:
  Prober(const Api& api, const std::string& sysfs) : api_(api), sysfs_(sysfs) {}

  ProbeReport Run() {
    std::array<char, 96> text{};
    if (Ask("driver version", api_.driver_version, text.data(), 96U)) report_.driver = TextOf(text);
    unsigned int count = 0;
    Ask("number of GPUs", api_.device_count, &count);
    for (unsigned int i = 0; i < count; ++i) ReadGpu(i);
    report_.links = LinkGraph(report_.gpus.size());
    for (std::size_t i = 0; i < report_.gpus.size(); ++i) {
      for (std::size_t j = 0; j < report_.gpus.size(); ++j) {
        if (i != j) report_.links.Set(i, j, ReadPair(i, j));
      }
    }
    return std::move(report_);
  }

 private:
  std::string Describe(int code) const {
    const char* text = api_.error_string == nullptr ? nullptr : api_.error_string(code);
    return text == nullptr ? fmt::format("error {}", code) : text;
  }

  // Calls a function that may be missing.
  template <typename Function, typename... Arguments>
  static int Call(Function function, Arguments... arguments) {
    return function == nullptr ? static_cast<int>(kFunctionNotFound) : function(arguments...);
  }

  // The same, with a line in the report when it fails.
  template <typename Function, typename... Arguments>
  bool Ask(const std::string& what, Function function, Arguments... arguments) {
    const int code = Call(function, arguments...);
    if (code == kSuccess) return true;
    report_.problems.push_back(fmt::format("{}: {}", what, Describe(code)));
    return false;
  }

  void ReadGpu(unsigned int index) {
    ProbedGpu& gpu = report_.gpus.emplace_back();
    Device& device = devices_.emplace_back(nullptr);
    gpu.index = static_cast<std::int32_t>(index);
    const std::string who = fmt::format("GPU {}", index);
    if (!Ask(who, api_.device_by_index, index, &device)) {
      device = nullptr;
      return;
    }
    std::array<char, 96> text{};
    if (Ask(who + ": UUID", api_.uuid, device, text.data(), 96U)) gpu.uuid = TextOf(text);
    if (Ask(who + ": name", api_.name, device, text.data(), 96U)) gpu.name = TextOf(text);
    PciInfo pci{};
    if (Ask(who + ": PCI address", api_.pci_info, device, &pci)) {
      gpu.bus_id = NormalBusId(TextOf(pci.bus_id));
      gpu.numa = ReadNuma(gpu.bus_id);
      if (!gpu.numa) report_.problems.push_back(who + ": NUMA node: unknown, registered as 0");
    }
    unsigned int minor = 0;
    if (Call(api_.minor_number, device, &minor) == kSuccess) {
      gpu.minor = static_cast<std::int32_t>(minor);
    }
    Memory memory{};
    if (Ask(who + ": memory", api_.memory_info, device, &memory)) {
      gpu.memory_mib = static_cast<std::int64_t>(memory.total >> 20U);
    }
    gpu.links = ReadLinks(who, device);
    gpu.clique = ReadClique(who, device);
  }

  [[nodiscard]] std::optional<std::int32_t> ReadNuma(const std::string& bus_id) const {
    std::ifstream file(sysfs_ + "/bus/pci/devices/" + bus_id + "/numa_node");
    std::int32_t numa = -1;
    if (!(file >> numa) || numa < 0) return std::nullopt;
    return numa;
  }

  // The links of a GPU that are up; none when one of them cannot be read.
  std::optional<std::vector<UpLink>> ReadLinks(const std::string& who, Device device) {
    std::vector<UpLink> links;
    std::vector<unsigned int> down;
    for (unsigned int link = 0; link < kMaxLinks; ++link) {
      int state = 0;
      const int code = Call(api_.link_state, device, link, &state);
      if (code == kNotSupported || code == kInvalidArgument || code == kFunctionNotFound) continue;
      if (code != kSuccess) {
        report_.problems.push_back(fmt::format("{}: NVLink {}: {}", who, link, Describe(code)));
        return std::nullopt;
      }
      if (state != kFeatureEnabled) {
        down.push_back(link);
        continue;
      }
      UpLink up;
      PciInfo pci{};
      if (Call(api_.link_remote_pci, device, link, &pci) == kSuccess) {
        up.remote_bus_id = NormalBusId(TextOf(pci.bus_id));
      }
      if (Call(api_.link_remote_type, device, link, &up.remote_type) != kSuccess) {
        up.remote_type = kRemoteUnknown;
      }
      links.push_back(std::move(up));
    }
    if (!down.empty()) {
      report_.problems.push_back(fmt::format("{}: NVLinks down: {}", who, fmt::join(down, ", ")));
    }
    return links;
  }

  std::string ReadClique(const std::string& who, Device device) {
    FabricInfo info{};
    info.version = kFabricInfoVersion;
    if (Call(api_.fabric_info, device, &info) != kSuccess || info.state == 0) return "";
    if (info.state != kFabricCompleted || info.status != kSuccess) {
      report_.problems.push_back(
          fmt::format("{}: NVLink fabric is not ready (state {})", who, info.state));
      return "";
    }
    const auto& id = info.cluster_uuid;
    if (std::all_of(id.begin(), id.end(), [](unsigned char byte) { return byte == 0; })) return "";
    std::string text;
    for (std::size_t i = 0; i < id.size(); ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
      text += fmt::format("{:02x}", id.at(i));
    }
    return fmt::format("{}.{}", text, info.clique_id);
  }

  GpuLink ReadPair(std::size_t from, std::size_t to) {
    GpuLink link;
    if (devices_[from] == nullptr || devices_[to] == nullptr) return link;
    int ancestor = -1;
    const std::string who =
        fmt::format("GPUs {} and {}: PCIe level", report_.gpus[from].index, report_.gpus[to].index);
    if (Ask(who, api_.common_ancestor, devices_[from], devices_[to], &ancestor)) {
      link.pcie = LevelOf(ancestor);
      if (link.pcie == PcieLevel::kUnknown) {
        report_.problems.push_back(fmt::format("{}: unknown value {}", who, ancestor));
      }
    }
    link.nvlinks = CountNvlinks(report_.gpus[from], report_.gpus[to]);
    return link;
  }

  const Api& api_;
  const std::string& sysfs_;
  ProbeReport report_;
  std::vector<Device> devices_;
};

std::int32_t CountType(const std::vector<UpLink>& links, int type) {
  return static_cast<std::int32_t>(std::count_if(
      links.begin(), links.end(), [&](const UpLink& link) { return link.remote_type == type; }));
}

}  // namespace

std::string NormalBusId(std::string bus_id) {
  std::transform(bus_id.begin(), bus_id.end(), bus_id.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  constexpr std::size_t kShort = 12;  // "0000:3b:00.0"
  if (bus_id.size() > kShort && bus_id.starts_with("0000")) bus_id.erase(0, 4);
  return bus_id;
}

std::optional<std::int32_t> CountNvlinks(const ProbedGpu& from, const ProbedGpu& to) {
  if (!from.links || !to.links) return std::nullopt;
  const auto direct = static_cast<std::int32_t>(
      std::count_if(from.links->begin(), from.links->end(), [&](const UpLink& link) {
        return !link.remote_bus_id.empty() && link.remote_bus_id == to.bus_id;
      }));
  if (direct > 0) return direct;
  const std::int32_t switched =
      std::min(CountType(*from.links, kRemoteSwitch), CountType(*to.links, kRemoteSwitch));
  if (switched > 0) return switched;
  const bool hidden =
      CountType(*from.links, kRemoteUnknown) > 0 && CountType(*to.links, kRemoteUnknown) > 0;
  return hidden ? std::nullopt : std::optional(0);
}

ProbeReport Probe(const Api& api, const std::string& sysfs) {
  return Prober(api, sysfs).Run();
}

std::vector<std::string> FindAnswering(const Api& api) {
  std::vector<std::string> found;
  unsigned int count = 0;
  if (api.device_count(&count) != kSuccess || api.uuid == nullptr || api.memory_info == nullptr) {
    return found;
  }
  for (unsigned int i = 0; i < count; ++i) {
    Device device = nullptr;
    std::array<char, 96> uuid{};
    Memory memory{};
    if (api.device_by_index(i, &device) == kSuccess &&
        api.uuid(device, uuid.data(), 96U) == kSuccess &&
        api.memory_info(device, &memory) == kSuccess) {
      found.push_back(TextOf(uuid));
    }
  }
  return found;
}

NodeGpus ToNodeGpus(const ProbeReport& report) {
  NodeGpus node;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < report.gpus.size(); ++i) {
    const ProbedGpu& probed = report.gpus[i];
    if (probed.uuid.empty()) continue;
    Gpu gpu;
    gpu.uuid = probed.uuid;
    gpu.index = probed.index;
    gpu.slots = kSharesPerGpu;
    gpu.memory_mib = probed.memory_mib.value_or(0);
    gpu.cores = 100;
    gpu.type = probed.name.starts_with("NVIDIA") ? probed.name : "NVIDIA-" + probed.name;
    gpu.numa = probed.numa.value_or(0);
    gpu.mode = "hami-core";
    gpu.healthy = probed.memory_mib.has_value();
    node.gpus.push_back(std::move(gpu));
    positions.push_back(i);
  }
  LinkGraph links(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    for (std::size_t j = 0; j < positions.size(); ++j) {
      links.Set(i, j, report.links.At(positions[i], positions[j]));
    }
  }
  node.scores = links.Scores();
  return node;
}

}  // namespace strata::nvml
