// The best set of GPUs against every set there is.
#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model/gpu_machines.h"
#include "sched/devices/gpu_fit.h"
#include "sched/devices/gpu_sets.h"
#include "tests/support/property.h"

namespace strata::testing {
namespace {

using Positions = std::vector<std::size_t>;

// Tries all subsets: the highest sum inside, then the highest sum among the rest, then the first in
// the order of positions.
GpuSet TryAll(const PairScores& scores, const Positions& candidates, std::size_t count) {
  GpuSet best;
  std::int64_t best_rest = 0;
  for (std::uint32_t mask = 0; mask < (1U << candidates.size()); ++mask) {
    if (static_cast<std::size_t>(__builtin_popcount(mask)) != count) continue;
    Positions inside;
    Positions rest;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      ((mask >> i & 1U) != 0 ? inside : rest).push_back(candidates[i]);
    }
    const std::int64_t sum = SumOfPairs(scores, inside);
    const std::int64_t left = SumOfPairs(scores, rest);
    const bool better =
        best.members.empty() ||
        std::tuple(-sum, -left, inside) < std::tuple(-best.score, -best_rest, best.members);
    if (!better) continue;
    best = {.members = inside, .score = sum, .proven = true};
    best_rest = left;
  }
  return best;
}

PairScores AnyScores(std::size_t size, int kinds) {
  std::vector<std::optional<std::int32_t>> directed(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) {
      const int drawn = *Below(kinds);
      if (drawn == 1) continue;  // unknown
      directed[i * size + j] = directed[j * size + i] = drawn * 70 - 50;
    }
  }
  return {size, directed};
}

void ExpectTheBest(const PairScores& scores, const Positions& candidates, std::size_t count) {
  const GpuSet found = BestGpuSet(scores, candidates, count);
  const GpuSet expected = TryAll(scores, candidates, count);
  RC_ASSERT(found.members == expected.members);
  RC_ASSERT(found.score == expected.score);
  RC_ASSERT(found.proven);
}

TEST(GpuSetsProperty, TheBestSetIsTheBestOfAllSets) {
  CheckProperty(400, [] {
    const auto size = static_cast<std::size_t>(*Below(12) + 1);
    const PairScores scores = AnyScores(size, *Below(2) == 0 ? 3 : 30);
    Positions candidates;
    for (std::size_t i = 0; i < size; ++i) {
      if (*Below(4) != 0) candidates.push_back(i);
    }
    if (candidates.empty()) candidates.push_back(0);
    const auto count = static_cast<std::size_t>(*Below(static_cast<int>(candidates.size())) + 1);
    ExpectTheBest(scores, candidates, count);
  });
}

TEST(GpuSetsProperty, AlsoOfTheRealMachinesWithAnyGpusTaken) {
  CheckProperty(300, [] {
    const auto& machines = GpuMachines();
    const GpuMachine& machine =
        machines[static_cast<std::size_t>(*Below(static_cast<int>(machines.size())))];
    RC_TAG(machine.name);
    const PairScores scores = machine.links.Scores();
    Positions free;
    for (std::size_t i = 0; i < scores.size() && free.size() < 13; ++i) {
      if (*Below(3) != 0) free.push_back(i);
    }
    if (free.empty()) free.push_back(0);
    const auto count = static_cast<std::size_t>(*Below(static_cast<int>(free.size())) + 1);
    ExpectTheBest(scores, free, count);
  });
}

// 17 to 20 candidates are searched with a bound: what is proven must be the best.
TEST(GpuSetsProperty, WhatIsProvenBeyondSixteenIsTheBest) {
  CheckProperty(100, [] {
    const auto size = static_cast<std::size_t>(*Below(2) + 17);
    const PairScores scores = AnyScores(size, *Below(2) == 0 ? 3 : 30);
    Positions all(size);
    for (std::size_t i = 0; i < size; ++i) all[i] = i;
    const auto count = static_cast<std::size_t>(*Below(5) + 1);
    const GpuSet found = BestGpuSet(scores, all, count);
    const GpuSet expected = TryAll(scores, all, count);
    RC_ASSERT(found.score <= expected.score);
    if (found.proven) RC_ASSERT(found.members == expected.members);
  });
}

bool IsOfOneNumaNode(const NodeGpus& node, const Positions& set) {
  return std::all_of(set.begin(), set.end(), [&](std::size_t at) {
    return node.gpus[at].numa == node.gpus[set[0]].numa;
  });
}

// Tries every set of one NUMA node, judged by what it leaves among all that are free.
std::optional<Positions> TryAllOfOneNumaNode(const NodeGpus& node,
                                             const Positions& free,
                                             std::size_t count) {
  std::optional<std::tuple<std::int64_t, std::int64_t, Positions>> best;
  for (std::uint32_t mask = 0; mask < (1U << free.size()); ++mask) {
    if (static_cast<std::size_t>(__builtin_popcount(mask)) != count) continue;
    Positions inside;
    Positions rest;
    for (std::size_t i = 0; i < free.size(); ++i) {
      ((mask >> i & 1U) != 0 ? inside : rest).push_back(free[i]);
    }
    if (!IsOfOneNumaNode(node, inside)) continue;
    std::tuple judged(-SumOfPairs(node.scores, inside), -SumOfPairs(node.scores, rest), inside);
    if (!best || judged < *best) best = std::move(judged);
  }
  if (!best) return std::nullopt;
  return std::get<2>(*best);
}

TEST(GpuSetsProperty, BoundToANumaNodeIsTheBestOfAllNumaNodes) {
  CheckProperty(200, [] {
    const auto machines = static_cast<int>(GpuMachines().size());
    const NodeGpus node =
        MakeNodeGpus(GpuMachines()[static_cast<std::size_t>(*Below(machines))], "n");
    std::vector<GpuUsage> usage(node.gpus.size());
    Positions free;
    for (std::size_t i = 0; i < usage.size(); ++i) {
      if (*Below(4) == 0) {
        usage[i].Add({.uuid = "", .memory_mib = node.gpus[i].memory_mib, .cores = 100});
      } else {
        free.push_back(i);
      }
    }
    GpuRequest request;
    request.containers = {{.container = "main", .count = *rc::gen::inRange(1, 5), .cores = 100}};
    request.policy = {.order = {GpuOrder::kSpread}, .topology_aware = true};
    request.numa_bind = true;
    const auto count = static_cast<std::size_t>(request.containers[0].count);

    const auto best = TryAllOfOneNumaNode(node, free, count);
    const GpuFit fit = FitGpus(request, node, usage);
    RC_ASSERT(fit.claim.has_value() == best.has_value());
    if (!best) return;
    Positions found;
    for (const GpuShare& share : fit.claim->containers[0]) found.push_back(*node.Find(share.uuid));
    RC_ASSERT(found == *best);
  });
}

}  // namespace
}  // namespace strata::testing
