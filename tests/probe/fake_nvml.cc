// An NVML of our own for the tests of the agent. STRATA_FAKE_NVML names a machine of
// model/gpu_machines.h and what is wrong with it: "dgx1v down=0/2 lost=5". The same text may be in
// the file that STRATA_FAKE_NVML_FILE names, for what changes while the agent runs: it is read by
// nvmlInit_v2 and by nvmlDeviceGetCount_v2.
//
// STRATA_FAKE_NVML_EVENTS names a FIFO with events, a line each: "3 79" is XID 79 of GPU 3, "- 79"
// one of a GPU that is not told, "fail" makes the wait fail.
//
//   init=CODE     nvmlInit_v2 fails            nohandle=G  GPU G has no handle
//   lost=G        every call on GPU G fails    down=G/L    link L of GPU G is down
//   badlink=G     its links cannot be read     fewer=G/N   GPU G sees only its first N links
//   hidden=1      remote ends are not told     noancestor=G  its PCIe levels cannot be read
//   nomemory=G    NOT_SUPPORTED                nolinks=1   NVLink NOT_SUPPORTED
//   fabric=G/S    fabric state S of GPU G      oddlevel=G  an unknown PCIe level
//   noevents=1    no events are supported      gone=1      the driver is not loaded (any more)
//   block=FILE    the number of GPUs is not told as long as FILE exists
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
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
using strata::nvml::EventData;
using strata::nvml::EventSetHandle;
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

const char* Variable(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

std::string Description() {
  if (const char* file = Variable("STRATA_FAKE_NVML_FILE")) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  const char* text = Variable("STRATA_FAKE_NVML");
  return text == nullptr ? "" : text;
}

void ReadDescription() {
  std::istringstream words(Description());
  Machine& machine = TheMachine();
  machine = {};
  std::string word;
  words >> word;
  machine.gpus = strata::FindGpuMachine(word);
  while (words >> word) {
    const std::size_t equals = word.find('=');
    machine.faults[word.substr(0, equals)].push_back(word.substr(equals + 1));
  }
}

// What the driver itself answers.
int Driver() {
  const Machine& machine = TheMachine();
  const bool gone = machine.gpus == nullptr || machine.faults.contains("gone");
  return gone ? kDriverNotLoaded : static_cast<int>(strata::nvml::kSuccess);
}

void WaitWhileBlocked() {
  const auto block = TheMachine().faults.find("block");
  if (block == TheMachine().faults.end()) return;
  while (access(block->second.front().c_str(), F_OK) == 0) poll(nullptr, 0, 10);
}

// The next line of the FIFO; "" when none comes in time.
std::string NextEvent(int fifo, int milliseconds) {
  std::string line;
  pollfd wait{.fd = fifo, .events = POLLIN, .revents = 0};
  while (poll(&wait, 1, line.empty() ? milliseconds : -1) > 0) {
    char c = 0;
    if (read(fifo, &c, 1) != 1 || c == '\n') break;
    line += c;
  }
  return line;
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
  ReadDescription();
  const Machine& machine = TheMachine();
  if (machine.faults.contains("init")) return std::stoi(machine.faults.at("init").front());
  return Driver();
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
  ReadDescription();
  WaitWhileBlocked();
  if (Driver() != strata::nvml::kSuccess) return Driver();
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

int nvmlDeviceGetMinorNumber(DeviceHandle* device, unsigned int* minor) {
  *minor = static_cast<unsigned int>(At(device));
  return Lost(device);
}

int nvmlEventSetCreate(EventSetHandle** set) {
  if (TheMachine().faults.contains("noevents")) return strata::nvml::kNotSupported;
  const char* path = Variable("STRATA_FAKE_NVML_EVENTS");
  // Opened for both, it does not end when a writer closes it.
  const int fifo = path == nullptr ? -1 : open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  *set = reinterpret_cast<EventSetHandle*>(static_cast<std::intptr_t>(fifo) + 2);
  return strata::nvml::kSuccess;
}

int nvmlDeviceRegisterEvents(DeviceHandle* device, std::uint64_t types, EventSetHandle* /*set*/) {
  return types == strata::nvml::kXidEvents ? Lost(device) : strata::nvml::kInvalidArgument;
}

int nvmlEventSetWait_v2(EventSetHandle* set, EventData* event, unsigned int milliseconds) {
  const int fifo = static_cast<int>(reinterpret_cast<std::intptr_t>(set)) - 2;
  const std::string line = NextEvent(fifo, static_cast<int>(milliseconds));
  if (line.empty()) return strata::nvml::kTimeout;
  if (line == "fail") return kUnknownError;
  const std::size_t space = line.find(' ');
  event->device =
      line[0] == '-'
          ? nullptr
          : reinterpret_cast<DeviceHandle*>(std::uintptr_t{std::stoul(line.substr(0, space))} + 1);
  event->type = strata::nvml::kXidEvents;
  event->data = std::stoull(line.substr(space + 1));
  return strata::nvml::kSuccess;
}

int nvmlEventSetFree(EventSetHandle* set) {
  const int fifo = static_cast<int>(reinterpret_cast<std::intptr_t>(set)) - 2;
  if (fifo >= 0) close(fifo);
  return strata::nvml::kSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
