#pragma once

#include <string>

#include "sched/cycle_result.h"

namespace strata {

// "2 gangs, 9 pods for HyperNode s0 (tier 1)".
[[nodiscard]] std::string SummaryOf(const CycleResult::EvictionPlan& plan);

}  // namespace strata
