#pragma once

#include <string>
#include <vector>

#include "sched/trace.h"
#include "whatif/run_result.h"

// Evictions of a run in sentences: they have not happened yet.
namespace strata {

// "1 gang, 3 pods".
[[nodiscard]] std::string CountVictims(const RunResult::Evictions& plan);

// " in rack1 (tier 1)"; "" for the cluster as a whole.
[[nodiscard]] std::string WhereOf(const RunResult::Evictions& plan);

// "gang default/wide (queue default, priority 1): 3 pods on node2, node3; has run for 2h; may take
// 30s to stop".
[[nodiscard]] std::string DescribeVictim(const RunResult::Evictions::Victim& victim);

// "rack2 (tier 1): 2 gangs, 6 pods of priority 5 at most; more gangs would break".
[[nodiscard]] std::string DescribeOther(const EvictionRecord::Domain& other);

// "default/web (2 pods that a disruption budget protects)".
[[nodiscard]] std::string DescribeProtected(const EvictionRecord::Protected& kept);

// "gangs", for programs.
[[nodiscard]] const char* WordOf(DomainCriterion criterion);

}  // namespace strata
