#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "model/cluster_state.h"
#include "objects/meta.h"
#include "report/text.h"

namespace strata {

// Gangs of so many pods are counted.
inline constexpr std::array<std::int64_t, 7> kGangSizes = {1, 2, 4, 8, 16, 32, 64};
// From so many pods, those that were created last, typical pods are learned.
inline constexpr std::size_t kLearnFromPods = 1000;

// How what is free lies, by the definitions of docs/fragmentation.md.
struct FragmentationReport {
  struct Tier {
    std::int32_t tier = 0;
    std::string tier_name;
    std::int64_t domains = 0;
    std::int64_t largest_gang = 0;  // pods of the shape
    // By kGangSizes: gangs that could start, each in one HyperNode; and the share of free slots
    // that none of them can use.
    std::array<std::int64_t, kGangSizes.size()> placeable{};
    std::array<double, kGangSizes.size()> rack_loss{};
    double gini = 0;
  };
  objects::ResourceList pod;  // the shape whose slots are counted
  std::vector<Tier> tiers;    // ascending; the last is the whole cluster
  std::int64_t free_gpus = 0;
  std::int64_t stranded_gpus = 0;
  double stranded = 0;      // of the free ones
  double fgd = 0;           // idle GPUs, parts of GPUs included, that typical pods cannot use
  std::size_t typical = 0;  // kinds of pods that this is about
};

// Error, precondition and cost are those of MakeTopologyReport, and O(pods).
[[nodiscard]] Result<FragmentationReport> MakeFragmentationReport(const ClusterState& state,
                                                                  const objects::ResourceList& pod);

// As in docs/commands.md.
[[nodiscard]] nlohmann::ordered_json ToJson(const FragmentationReport& report);
// A table of gangs by tier, and sentences about GPUs. "" where nothing is said: no GPUs and no
// HyperNodes.
[[nodiscard]] std::string RenderFragmentation(const FragmentationReport& report,
                                              const TextStyle& style);

}  // namespace strata
