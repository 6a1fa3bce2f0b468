#include "sched/eviction/domain_order.h"

#include <tuple>

namespace strata {

bool Precedes(const DomainPrice& a, const DomainPrice& b, bool soft) {
  const auto first =
      std::tie(a.cost.gangs, a.cost.levels) <=> std::tie(b.cost.gangs, b.cost.levels);
  if (first != 0) return first < 0;
  if (soft && a.tier != b.tier) return a.tier < b.tier;
  return std::tie(a.cost.pods, a.tier, a.cost.lost_work, a.cost.grace_seconds, a.name) <
         std::tie(b.cost.pods, b.tier, b.cost.lost_work, b.cost.grace_seconds, b.name);
}

DomainCriterion WhatDiffers(const DomainPrice& a, const DomainPrice& b, bool soft) {
  if (a.cost.gangs != b.cost.gangs) return DomainCriterion::kGangs;
  if (a.cost.levels != b.cost.levels) return DomainCriterion::kPriorities;
  if (soft && a.tier != b.tier) return DomainCriterion::kTier;
  if (a.cost.pods != b.cost.pods) return DomainCriterion::kPodCount;
  if (a.tier != b.tier) return DomainCriterion::kTier;
  if (a.cost.lost_work != b.cost.lost_work) return DomainCriterion::kLostWork;
  return a.cost.grace_seconds != b.cost.grace_seconds ? DomainCriterion::kGrace
                                                      : DomainCriterion::kName;
}

}  // namespace strata
