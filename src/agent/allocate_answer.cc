#include "agent/allocate_answer.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/check.h"

namespace strata::agent {
namespace {

constexpr std::size_t kMaxPathPart = 253;
constexpr const char* kLockFolder = "/tmp/vgpulock";
constexpr const char* kPreload = "/etc/ld.so.preload";

std::vector<std::string> UniqueUuids(const std::vector<GpuShare>& shares) {
  std::vector<std::string> uuids;
  for (const GpuShare& share : shares) {
    if (std::find(uuids.begin(), uuids.end(), share.uuid) == uuids.end()) {
      uuids.push_back(share.uuid);
    }
  }
  return uuids;
}

void AddDevices(const std::vector<std::string>& uuids,
                const AnswerOptions& options,
                AllocateAnswer& answer) {
  const auto channels = fmt::format("{}", fmt::join(options.imex_channels, ","));
  if (options.strategy == AnswerOptions::Strategy::kEnvironment) {
    auto& environment = answer.environment;
    environment["NVIDIA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(uuids, ","));
    if (options.gdrcopy) environment["NVIDIA_GDRCOPY"] = "enabled";
    if (options.gds) environment["NVIDIA_GDS"] = "enabled";
    if (options.mofed) environment["NVIDIA_MOFED"] = "enabled";
    if (!channels.empty()) environment["NVIDIA_IMEX_CHANNELS"] = channels;
    return;
  }
  const auto name = [&](std::string_view kind, std::string_view device) {
    answer.cdi_devices.push_back(fmt::format("{}/{}={}", options.cdi_vendor, kind, device));
  };
  for (const std::string& uuid : uuids) name(options.cdi_class, uuid);
  for (const std::int32_t channel : options.imex_channels) {
    name("imex-channel", std::to_string(channel));
  }
  if (options.gdrcopy) name("gdrcopy", "all");
  if (options.gds) name("gds", "all");
  if (options.mofed) name("mofed", "all");
}

void AddDeviceNodes(const Machine& machine,
                    const std::vector<std::string>& uuids,
                    const AnswerOptions& options,
                    AllocateAnswer& answer) {
  answer.device_nodes = options.common_device_nodes;
  for (const std::string& uuid : uuids) {
    const auto gpu = machine.node.Find(uuid);
    if (!gpu || *gpu >= machine.minors.size() || machine.minors[*gpu] < 0) continue;
    answer.device_nodes.push_back(fmt::format("/dev/nvidia{}", machine.minors[*gpu]));
  }
}

// A share whose number could not be read counts as the whole GPU, which has its own size.
std::int64_t MemoryLimit(const Machine& machine, const GpuShare& share) {
  const auto gpu = machine.node.Find(share.uuid);
  return gpu ? std::min(share.memory_mib, machine.node.gpus[*gpu].memory_mib) : share.memory_mib;
}

void AddLimits(const Machine& machine,
               const ServedContainer& served,
               const ShareOptions& options,
               AllocateAnswer& answer) {
  const std::string folder = options.hook + "/vgpu";
  auto& environment = answer.environment;
  for (std::size_t i = 0; i < served.shares.size(); ++i) {
    environment[fmt::format("CUDA_DEVICE_MEMORY_LIMIT_{}", i)] =
        fmt::format("{}m", MemoryLimit(machine, served.shares[i]));
  }
  if (!served.shares.empty()) {
    environment["CUDA_DEVICE_SM_LIMIT"] = std::to_string(served.shares[0].cores);
  }
  environment["CUDA_DEVICE_MEMORY_SHARED_CACHE"] =
      fmt::format("{}/{}.cache", folder, served.cache_name);
  if (options.oversubscribe) environment["CUDA_OVERSUBSCRIBE"] = "true";
  if (!options.log_level.empty()) environment["LIBCUDA_LOG_LEVEL"] = options.log_level;
  if (!options.limit_cores) environment["GPU_CORE_UTILIZATION_POLICY"] = "disable";

  CHECK(IsPathPart(served.pod_uid) && IsPathPart(served.container));
  answer.cache_folder =
      fmt::format("{}/containers/{}_{}", folder, served.pod_uid, served.container);
  answer.lock_folder = kLockFolder;
  answer.mounts = {{.container_path = folder + "/libvgpu.so",
                    .host_path = folder + "/libvgpu.so",
                    .read_only = true},
                   {.container_path = folder, .host_path = answer.cache_folder, .read_only = false},
                   {.container_path = kLockFolder, .host_path = kLockFolder, .read_only = false}};
  if (!served.disables_control) {
    answer.mounts.push_back(
        {.container_path = kPreload, .host_path = folder + "/ld.so.preload", .read_only = true});
  }
}

}  // namespace

std::vector<std::string> SharedDeviceNodes() {
  return {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"};
}

AllocateAnswer AnswerFor(const Machine& machine,
                         const ServedContainer& served,
                         const AnswerOptions& options) {
  AllocateAnswer answer;
  const std::vector<std::string> uuids = UniqueUuids(served.shares);
  AddDevices(uuids, options, answer);
  if (options.pass_device_nodes) AddDeviceNodes(machine, uuids, options, answer);
  if (options.shares && served.limited) AddLimits(machine, served, *options.shares, answer);
  return answer;
}

std::vector<std::string> CdiNamesOf(const Machine& machine, const AnswerOptions& options) {
  ServedContainer all;
  for (const Gpu& gpu : machine.node.gpus) all.shares.emplace_back().uuid = gpu.uuid;
  return AnswerFor(machine, all, options).cdi_devices;
}

bool IsPathPart(const std::string& text) {
  const auto allowed = [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
  };
  return !text.empty() && text.size() <= kMaxPathPart &&
         std::all_of(text.begin(), text.end(), allowed) &&
         text.find_first_not_of('.') != std::string::npos;
}

}  // namespace strata::agent
