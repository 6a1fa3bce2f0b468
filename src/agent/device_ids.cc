#include "agent/device_ids.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"

namespace strata::agent {
namespace {

constexpr std::int64_t kDashesOfShare = 6;  // "GPU-8-4-4-4-12" has five

std::optional<std::size_t> FindGpu(const NodeGpus& node, std::string_view uuid) {
  for (std::size_t i = 0; i < node.gpus.size(); ++i) {
    if (node.gpus[i].uuid == uuid) return i;
  }
  return std::nullopt;
}

// `id` without the number behind its last dash.
std::string_view WithoutNumber(std::string_view id) {
  const std::size_t dash = id.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == id.size()) return id;
  const std::string_view number = id.substr(dash + 1);
  return std::all_of(number.begin(), number.end(), IsDigit) ? id.substr(0, dash) : id;
}

}  // namespace

std::string DeviceId(std::string_view uuid, std::int32_t share) {
  return fmt::format("{}-{}", uuid, share);
}

std::string_view PhysicalId(std::string_view id) {
  if (id.find("MIG") != std::string_view::npos) return id;
  if (const std::size_t replica = id.find("::"); replica != std::string_view::npos) {
    return id.substr(0, replica);
  }
  if (std::count(id.begin(), id.end(), '-') != kDashesOfShare) return id;
  return id.substr(0, id.rfind('-'));
}

std::optional<std::size_t> GpuOfId(const NodeGpus& node, std::string_view id) {
  for (const std::string_view uuid : {id, PhysicalId(id), WithoutNumber(id)}) {
    if (const auto found = FindGpu(node, uuid)) return found;
  }
  return std::nullopt;
}

std::vector<OfferedDevice> DevicesOf(const NodeGpus& node, OfferNuma numa) {
  std::vector<OfferedDevice> devices;
  for (const Gpu& gpu : node.gpus) {
    for (std::int32_t share = 0; share < std::max(1, gpu.slots); ++share) {
      OfferedDevice device{.id = DeviceId(gpu.uuid, share), .healthy = gpu.healthy, .numa = {}};
      if (numa == OfferNuma::kYes && gpu.numa >= 0) device.numa = gpu.numa;
      devices.push_back(std::move(device));
    }
  }
  return devices;
}

}  // namespace strata::agent
