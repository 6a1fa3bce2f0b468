#pragma once

#include <cstdint>
#include <string_view>

#include "sched/eviction/cost.h"

namespace strata {

// A HyperNode that could be cleared for a gang, by what decides between several.
struct DomainPrice {
  const Cost& cost;
  std::int32_t tier = 0;
  std::string_view name;
};

// What decides, the most important first. A soft gang asks for the tier before the pods: closeness
// is worth pods to it, not gangs or priorities.
enum class DomainCriterion : std::uint8_t {
  kGangs,
  kPriorities,
  kPodCount,
  kTier,
  kLostWork,
  kGrace,
  kName,
};

// True when clearing `a` is better than clearing `b`.
[[nodiscard]] bool Precedes(const DomainPrice& a, const DomainPrice& b, bool soft);
// The first criterion in which they differ.
[[nodiscard]] DomainCriterion WhatDiffers(const DomainPrice& a, const DomainPrice& b, bool soft);

}  // namespace strata
