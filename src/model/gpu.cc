#include "model/gpu.h"

#include <algorithm>

#include "base/check.h"

namespace strata {
namespace {

std::vector<GpuUsage> UsageOf(const NodeGpus& node, const std::vector<GpuShare>& shares) {
  std::vector<GpuUsage> usage(node.gpus.size());
  for (const GpuShare& share : shares) {
    if (const auto at = node.Find(share.uuid)) usage[*at].Add(share);
  }
  return usage;
}

}  // namespace

std::optional<std::size_t> NodeGpus::Find(const std::string& uuid) const {
  const auto it =
      std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& gpu) { return gpu.uuid == uuid; });
  if (it == gpus.end()) return std::nullopt;
  return static_cast<std::size_t>(it - gpus.begin());
}

void GpuTotals::Add(const GpuTotals& other, int sign) {
  gpus += sign * other.gpus;
  memory_mib += sign * other.memory_mib;
  cores += sign * other.cores;
}

GpuTotals TotalOf(const GpuClaim& claim) {
  GpuTotals apps;
  GpuTotals most;
  for (std::size_t i = 0; i < claim.containers.size(); ++i) {
    const bool init = i < claim.init_containers;
    GpuTotals alone;
    for (const GpuShare& share : claim.containers[i]) {
      (init ? alone : apps).Add({1, share.memory_mib, share.cores});
    }
    most = {std::max(most.gpus, alone.gpus),
            std::max(most.memory_mib, alone.memory_mib),
            std::max(most.cores, alone.cores)};
  }
  return {std::max(most.gpus, apps.gpus),
          std::max(most.memory_mib, apps.memory_mib),
          std::max(most.cores, apps.cores)};
}

void GpuUsage::Add(const GpuShare& share) {
  ++slots;
  memory_mib += share.memory_mib;
  cores += share.cores;
  if (!share.mig_profile.empty()) mig.push_back(share.mig_placement);
}

void GpuUsage::RaiseTo(const GpuUsage& other) {
  slots = std::max(slots, other.slots);
  memory_mib = std::max(memory_mib, other.memory_mib);
  cores = std::max(cores, other.cores);
  for (const MigPlacement& placement : other.mig) {
    if (std::find(mig.begin(), mig.end(), placement) == mig.end()) mig.push_back(placement);
  }
}

void AddClaim(const NodeGpus& node, const GpuClaim& claim, std::vector<GpuUsage>& usage) {
  CHECK(usage.size() == node.gpus.size());
  std::vector<GpuUsage> held(node.gpus.size());
  for (std::size_t i = claim.init_containers; i < claim.containers.size(); ++i) {
    for (const GpuShare& share : claim.containers[i]) {
      if (const auto at = node.Find(share.uuid)) held[*at].Add(share);
    }
  }
  for (std::size_t i = 0; i < std::min(claim.init_containers, claim.containers.size()); ++i) {
    const std::vector<GpuUsage> init = UsageOf(node, claim.containers[i]);
    for (std::size_t g = 0; g < held.size(); ++g) held[g].RaiseTo(init[g]);
  }
  for (std::size_t g = 0; g < held.size(); ++g) {
    usage[g].slots += held[g].slots;
    usage[g].memory_mib += held[g].memory_mib;
    usage[g].cores += held[g].cores;
    usage[g].mig.insert(usage[g].mig.end(), held[g].mig.begin(), held[g].mig.end());
  }
}

}  // namespace strata
