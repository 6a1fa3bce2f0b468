#include "sched/eviction/plan_text.h"

#include <cstddef>

#include <fmt/format.h>

#include "base/plural.h"
#include "sched/verdict_text.h"

namespace strata {

std::string SummaryOf(const CycleResult::EvictionPlan& plan) {
  const std::size_t gangs = plan.GangCount();
  std::string text = gangs > 0 ? Plural(gangs, "gang") + ", " : "";
  text += Plural(plan.PodCount(), "pod");
  if (plan.hypernode.empty()) return text;
  return text + fmt::format(" for HyperNode {} (tier {})", plan.hypernode, plan.tier);
}

}  // namespace strata
