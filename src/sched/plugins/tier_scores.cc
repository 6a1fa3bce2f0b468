#include "sched/plugins/tier_scores.h"

#include <algorithm>
#include <cmath>

namespace strata {
namespace {

// Gaps up to this are walked number by number, as the formula says; longer ones are summed at once.
constexpr std::int64_t kWalked = 256;

// By squaring; base^0 is 1, also of 0.
double Power(double base, std::int64_t exponent) {
  double power = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) power *= base;
    base *= base;
  }
  return power;
}

// base + base^2 + ... + base^count.
double PowerSum(double base, std::int64_t count) {
  if (base == 1) return static_cast<double>(count);
  return base * (1 - Power(base, count)) / (1 - base);
}

}  // namespace

double NearnessOfTier(std::int32_t tier, std::int32_t lowest, std::int32_t highest) {
  if (tier < lowest || tier > highest) return 0;
  if (lowest == highest) return 1;
  return (static_cast<double>(highest) - tier) / (static_cast<double>(highest) - lowest);
}

TierWeights WeighTiers(std::span<const std::int32_t> tiers, double fading) {
  TierWeights weights;
  double weight = 1;  // of the exponent reached
  std::int64_t reached = 0;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    if (i > 0 && tiers[i - 1] == 0 && tiers[i] > 1) weights.between += 1;  // tier 1, exponent 0
    const std::int64_t exponent = std::max<std::int64_t>(std::int64_t{tiers[i]} - 1, 0);
    const std::int64_t steps = exponent - reached;
    if (steps > kWalked) {
      if (i > 0) weights.between += weight * PowerSum(fading, steps - 1);
      weight *= Power(fading, steps);
    } else {
      for (std::int64_t step = 1; step <= steps; ++step) {
        weight *= fading;
        if (i > 0 && step < steps) weights.between += weight;
      }
    }
    reached = exponent;
    weights.of_tier.push_back(weight);
    weights.total += weight;
  }
  weights.total += weights.between;
  if (!std::isfinite(weights.total)) weights.total = 0;
  return weights;
}

}  // namespace strata
