#include "agent/inventory.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

namespace strata::agent {
namespace {

// The clique that all GPUs agree on; "" when they do not.
std::string CommonClique(const std::vector<nvml::ProbedGpu>& gpus) {
  std::set<std::string> cliques;
  for (const nvml::ProbedGpu& gpu : gpus) cliques.insert(gpu.clique);
  return cliques.size() == 1 ? *cliques.begin() : "";
}

}  // namespace

void Inventory::Take(const nvml::ProbeReport& report) {
  driver_ = report.driver;
  for (std::size_t i = 0; i < report.gpus.size(); ++i) {
    const nvml::ProbedGpu& from = report.gpus[i];
    if (from.uuid.empty()) continue;
    nvml::ProbedGpu& kept = gpus_[from.uuid];
    const auto memory = from.memory_mib ? from.memory_mib : kept.memory_mib;
    kept = from;
    kept.memory_mib = memory;  // a read that fails does not make it smaller
    for (std::size_t j = 0; j < report.gpus.size(); ++j) {
      const std::string& to = report.gpus[j].uuid;
      if (i != j && !to.empty()) links_[{from.uuid, to}] = report.links.At(i, j);
    }
  }
}

Machine Inventory::MachineNow(const GpuHealth& health, std::int32_t shares) const {
  nvml::ProbeReport all;
  for (const auto& [uuid, gpu] : gpus_) all.gpus.push_back(gpu);
  std::stable_sort(all.gpus.begin(), all.gpus.end(), [](const auto& a, const auto& b) {
    return std::tie(a.index, a.uuid) < std::tie(b.index, b.uuid);
  });
  all.links = LinkGraph(all.gpus.size());
  for (std::size_t i = 0; i < all.gpus.size(); ++i) {
    for (std::size_t j = 0; j < all.gpus.size(); ++j) {
      const auto link = links_.find({all.gpus[i].uuid, all.gpus[j].uuid});
      if (link != links_.end()) all.links.Set(i, j, link->second);
    }
  }
  Machine machine{.node = nvml::ToNodeGpus(all),
                  .minors = {},
                  .bus_ids = {},
                  .driver = driver_,
                  .clique = CommonClique(all.gpus)};
  for (std::size_t i = 0; i < machine.node.gpus.size(); ++i) {
    Gpu& gpu = machine.node.gpus[i];
    gpu.slots = shares;
    gpu.healthy = gpu.healthy && health.Of(gpu.uuid) != Health::kUnhealthy;
    machine.minors.push_back(all.gpus[i].minor.value_or(-1));
    machine.bus_ids.push_back(all.gpus[i].bus_id);
  }
  return machine;
}

}  // namespace strata::agent
