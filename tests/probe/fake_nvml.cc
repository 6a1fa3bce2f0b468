// An NVML of our own for the tests of the probe. STRATA_FAKE_NVML names a machine of
// model/gpu_machines.h and what is wrong with it: "dgx1v down=0/2 lost=5". It is read by
// nvmlInit_v2.
//
//   init=CODE     nvmlInit_v2 fails            nohandle=G  GPU G has no handle
//   lost=G        every call on GPU G fails    down=G/L    link L of GPU G is down
//   badlink=G     its links cannot be read     fewer=G/N   GPU G sees only its first N links
//   hidden=1      remote ends are not told     noancestor=G  its PCIe levels cannot be read
//   nomemory=G    NOT_SUPPORTED                nolinks=1   NVLink NOT_SUPPORTED
//   fabric=G/S    fabric state S of GPU G      oddlevel=G  an unknown PCIe level
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "model/gpu_machines.h"
#include "nvml/nvml_api.h"

namespace {

using strata::GpuMachine;
using strata::nvml::DeviceHandle;
using strata::nvml::FabricInfo;
using strata::nvml::Memory;
using strata::nvml::PciInfo;

constexpr int kDriverNotLoaded = 9;
constexpr int kUnknownError = 999;

struct Machine {
  const GpuMachine* gpus = nullptr;
  std::map<std::string, std::vector<std::string>> faults;

  [[nodiscard]] bool Has(const std::string& fault, std::size_t gpu) const {
    return Second(fault, gpu).has_value();
  }
  // "x" of fault=G/x, "" of fault=G.
  [[nodiscard]] std::optional<std::string> Second(const std::string& fault, std::size_t gpu) const {
    const auto it = faults.find(fault);
    if (it == faults.end()) return std::nullopt;
    for (const std::string& value : it->second) {
      const std::size_t slash = value.find('/');
      if (value.substr(0, slash) == std::to_string(gpu)) {
        return slash == std::string::npos ? "" : value.substr(slash + 1);
      }
    }
    return std::nullopt;
  }
};

Machine& TheMachine() {
  static Machine machine;
  return machine;
}

// Handles are positions, counted from 1.
std::size_t At(DeviceHandle* device) {
  return reinterpret_cast<std::uintptr_t>(device) - 1;
}

void Copy(const std::string& text, char* out, unsigned int size) {
  std::snprintf(out, size, "%s", text.c_str());
}

void SetBusId(unsigned int bus, PciInfo* pci) {
  std::snprintf(pci->bus_id.data(), pci->bus_id.size(), "00000000:%02X:00.0", bus);
}

unsigned int BusOf(std::size_t gpu) {
  return 0x1b + static_cast<unsigned int>(gpu) * 3;
}

constexpr unsigned int kSwitchBus = 0xc0;

// Where the links of a GPU lead, by link number; kSwitchBus for a switch.
std::vector<unsigned int> LinksOf(std::size_t gpu) {
  const GpuMachine& machine = *TheMachine().gpus;
  std::vector<unsigned int> links;
  for (std::size_t peer = 0; peer < machine.numa.size(); ++peer) {
    if (peer == gpu) continue;
    const auto count = static_cast<std::size_t>(machine.links.At(gpu, peer).nvlinks.value_or(0));
    if (machine.fabric == GpuMachine::Fabric::kSwitch) {
      links.resize(std::max(links.size(), count), kSwitchBus);
    } else {
      links.insert(links.end(), count, BusOf(peer));
    }
  }
  if (const auto fewer = TheMachine().Second("fewer", gpu)) links.resize(std::stoul(*fewer));
  return links;
}

int Ancestor(strata::PcieLevel level) {
  constexpr std::array<int, 7> kAncestors = {99, 50, 40, 30, 20, 10, 0};
  return kAncestors.at(static_cast<std::size_t>(level));
}

// What every call on a GPU does first.
int Lost(DeviceHandle* device) {
  return TheMachine().Has("lost", At(device)) ? strata::nvml::kGpuIsLost : strata::nvml::kSuccess;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are NVIDIA's.
extern "C" {

int nvmlInit_v2() {
  const char* text = std::getenv("STRATA_FAKE_NVML");  // NOLINT(concurrency-mt-unsafe)
  std::istringstream words(text == nullptr ? "" : text);
  Machine& machine = TheMachine();
  machine = {};
  std::string word;
  words >> word;
  machine.gpus = strata::FindGpuMachine(word);
  while (words >> word) {
    const std::size_t equals = word.find('=');
    machine.faults[word.substr(0, equals)].push_back(word.substr(equals + 1));
  }
  if (machine.faults.contains("init")) return std::stoi(machine.faults.at("init").front());
  return machine.gpus == nullptr ? kDriverNotLoaded : strata::nvml::kSuccess;
}

int nvmlShutdown() {
  return strata::nvml::kSuccess;
}

const char* nvmlErrorString(int code) {
  switch (code) {
    case strata::nvml::kNotSupported:
      return "Not Supported";
    case kDriverNotLoaded:
      return "Driver Not Loaded";
    case strata::nvml::kGpuIsLost:
      return "GPU is lost";
    default:
      return "Unknown Error";
  }
}

int nvmlSystemGetDriverVersion(char* out, unsigned int size) {
  Copy("999.1", out, size);
  return strata::nvml::kSuccess;
}

int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = static_cast<unsigned int>(TheMachine().gpus->numa.size());
  return strata::nvml::kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, DeviceHandle** device) {
  if (TheMachine().Has("nohandle", index)) return strata::nvml::kGpuIsLost;
  *device = reinterpret_cast<DeviceHandle*>(std::uintptr_t{index} + 1);
  return strata::nvml::kSuccess;
}

int nvmlDeviceGetUUID(DeviceHandle* device, char* out, unsigned int size) {
  Copy("GPU-fake-" + std::to_string(At(device)), out, size);
  return Lost(device);
}

int nvmlDeviceGetName(DeviceHandle* device, char* out, unsigned int size) {
  Copy(TheMachine().gpus->model, out, size);
  return Lost(device);
}

int nvmlDeviceGetPciInfo_v3(DeviceHandle* device, PciInfo* pci) {
  SetBusId(BusOf(At(device)), pci);
  return Lost(device);
}

int nvmlDeviceGetMemoryInfo(DeviceHandle* device, Memory* memory) {
  if (TheMachine().Has("nomemory", At(device))) return strata::nvml::kNotSupported;
  memory->total = static_cast<std::uint64_t>(TheMachine().gpus->memory_mib) << 20U;
  return Lost(device);
}

int nvmlDeviceGetTopologyCommonAncestor(DeviceHandle* a, DeviceHandle* b, int* level) {
  const Machine& machine = TheMachine();
  if (machine.Has("noancestor", At(a)) || machine.Has("noancestor", At(b))) return kUnknownError;
  const bool odd = machine.Has("oddlevel", At(a));
  *level = odd ? 77 : Ancestor(machine.gpus->links.At(At(a), At(b)).pcie);
  return std::max(Lost(a), Lost(b));
}

int nvmlDeviceGetNvLinkState(DeviceHandle* device, unsigned int link, int* state) {
  const Machine& machine = TheMachine();
  if (machine.faults.contains("nolinks")) return strata::nvml::kNotSupported;
  if (machine.Has("badlink", At(device))) return kUnknownError;
  if (link >= LinksOf(At(device)).size()) return strata::nvml::kInvalidArgument;
  const auto down = machine.Second("down", At(device));
  *state = down && *down == std::to_string(link) ? 0 : strata::nvml::kFeatureEnabled;
  return Lost(device);
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(DeviceHandle* device, unsigned int link, PciInfo* pci) {
  if (TheMachine().faults.contains("hidden")) return strata::nvml::kNotSupported;
  SetBusId(LinksOf(At(device)).at(link), pci);
  return Lost(device);
}

int nvmlDeviceGetNvLinkRemoteDeviceType(DeviceHandle* device, unsigned int link, int* type) {
  if (TheMachine().faults.contains("hidden")) {
    *type = strata::nvml::kRemoteUnknown;
    return strata::nvml::kSuccess;
  }
  const bool is_switch = LinksOf(At(device)).at(link) == kSwitchBus;
  *type = is_switch ? strata::nvml::kRemoteSwitch : strata::nvml::kRemoteGpu;
  return Lost(device);
}

int nvmlDeviceGetGpuFabricInfoV(DeviceHandle* device, FabricInfo* info) {
  const Machine& machine = TheMachine();
  if (!machine.gpus->has_clique) return strata::nvml::kNotSupported;
  if (info->version != strata::nvml::kFabricInfoVersion) return strata::nvml::kInvalidArgument;
  info->cluster_uuid.fill(0xab);
  info->clique_id = 7;
  const auto state = machine.Second("fabric", At(device));
  info->state =
      state ? static_cast<unsigned char>(std::stoi(*state)) : strata::nvml::kFabricCompleted;
  info->status = strata::nvml::kSuccess;
  return Lost(device);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
