#include "sched/eviction/plan_text.h"

#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace strata {
namespace {

std::string Plural(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

}  // namespace

std::string SummaryOf(const CycleResult::EvictionPlan& plan) {
  const std::size_t gangs = plan.GangCount();
  std::string text = gangs > 0 ? Plural(gangs, "gang") + ", " : "";
  text += Plural(plan.PodCount(), "pod");
  if (plan.hypernode.empty()) return text;
  return text + fmt::format(" for HyperNode {} (tier {})", plan.hypernode, plan.tier);
}

}  // namespace strata
