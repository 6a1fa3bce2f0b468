#pragma once

#include <cstdint>
#include <span>
#include <vector>

// What a tier is worth, by the formulas of network-topology-aware.
namespace strata {

// How near two places are whose lowest common HyperNode has tier `tier`: 1 at the lowest tier in
// use, 0 at the highest and outside of both; 1 when there is but one tier.
[[nodiscard]] double NearnessOfTier(std::int32_t tier, std::int32_t lowest, std::int32_t highest);

// The weight of each tier for pods without topology: fading^(tier - 1), for tier 0 as for tier 1.
struct TierWeights {
  std::vector<double> of_tier;  // of the tiers in use, ascending
  double between = 0;           // of the whole numbers between them, which no HyperNode has
  double total = 0;             // of both; 0 when the weights have no meaning (0 or beyond double)
};

// `tiers` are ascending, at least 0. COST: O(tiers), however far they are apart.
[[nodiscard]] TierWeights WeighTiers(std::span<const std::int32_t> tiers, double fading);

}  // namespace strata
