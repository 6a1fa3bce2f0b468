#include "model/gpu.h"

#include <algorithm>

#include "base/check.h"

namespace strata {
namespace {

void AddShares(const NodeGpus& node,
               const std::vector<GpuShare>& shares,
               std::vector<GpuUsage>& usage) {
  for (const GpuShare& share : shares) {
    if (const auto at = node.Find(share.uuid)) usage[*at].Add(share);
  }
}

void RaiseAll(std::vector<GpuUsage>& usage, const std::vector<GpuUsage>& other) {
  for (std::size_t g = 0; g < usage.size(); ++g) usage[g].RaiseTo(other[g]);
}

}  // namespace

std::optional<std::size_t> NodeGpus::Find(const std::string& uuid) const {
  const auto it =
      std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& gpu) { return gpu.uuid == uuid; });
  if (it == gpus.end()) return std::nullopt;
  return static_cast<std::size_t>(it - gpus.begin());
}

bool GpuRequest::TakesShares() const {
  return std::any_of(containers.begin(), containers.end(), [](const auto& container) {
    return container.count > 0 && (container.memory_mib > 0 || container.memory_percent < 100);
  });
}

void GpuTotals::Add(const GpuTotals& other, int sign) {
  gpus += sign * other.gpus;
  memory_mib += sign * other.memory_mib;
  cores += sign * other.cores;
}

bool GpuClaim::IsInit(std::size_t container) const {
  return std::binary_search(init_containers.begin(), init_containers.end(), container);
}

// An init container runs beside the sidecars before it, which are all that `held` has by then.
GpuTotals TotalOf(const GpuClaim& claim) {
  GpuTotals held;
  GpuTotals max;
  for (std::size_t i = 0; i < claim.containers.size(); ++i) {
    GpuTotals sum = held;
    for (const GpuShare& share : claim.containers[i]) sum.Add({1, share.memory_mib, share.cores});
    max = {std::max(max.gpus, sum.gpus),
           std::max(max.memory_mib, sum.memory_mib),
           std::max(max.cores, sum.cores)};
    if (!claim.IsInit(i)) held = sum;
  }
  return max;
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
  by_own_group = by_own_group || other.by_own_group;
  for (const MigPlacement& placement : other.mig) {
    if (std::find(mig.begin(), mig.end(), placement) == mig.end()) mig.push_back(placement);
  }
}

void AddClaim(const NodeGpus& node, const GpuClaim& claim, std::vector<GpuUsage>& usage) {
  CHECK(usage.size() == node.gpus.size());
  std::vector<GpuUsage> held(node.gpus.size());
  std::vector<GpuUsage> max(node.gpus.size());
  for (std::size_t i = 0; i < claim.containers.size(); ++i) {
    if (claim.IsInit(i)) {
      std::vector<GpuUsage> beside = held;  // the sidecars before it
      AddShares(node, claim.containers[i], beside);
      RaiseAll(max, beside);
    } else {
      AddShares(node, claim.containers[i], held);
    }
  }
  RaiseAll(held, max);
  for (std::size_t g = 0; g < held.size(); ++g) {
    usage[g].slots += held[g].slots;
    usage[g].memory_mib += held[g].memory_mib;
    usage[g].cores += held[g].cores;
    usage[g].mig.insert(usage[g].mig.end(), held[g].mig.begin(), held[g].mig.end());
  }
}

}  // namespace strata
