#include "sched/plugins/numa_fit.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace strata {
namespace {

// The sum of the `count` largest of `amounts`.
std::int64_t LargestOf(std::span<const std::int32_t> amounts, std::size_t count) {
  std::vector<std::int32_t> sorted(amounts.begin(), amounts.end());
  std::sort(sorted.rbegin(), sorted.rend());
  sorted.resize(std::min(count, sorted.size()));
  return std::accumulate(sorted.begin(), sorted.end(), std::int64_t{0});
}

// How many of `amounts` hold `cpus` at least; one more than there are when all do not.
std::size_t FewestFor(std::span<const std::int32_t> amounts, std::int64_t cpus) {
  std::size_t count = 1;
  while (count <= amounts.size() && LargestOf(amounts, count) < cpus) ++count;
  return count;
}

// The NUMA nodes of the lowest mask, read as a number, of `count` nodes that have `cpus` free.
std::vector<std::size_t> LowestMask(std::span<const std::int32_t> free,
                                    std::size_t count,
                                    std::int64_t cpus) {
  std::vector<std::size_t> mask;
  for (std::size_t i = free.size(); i-- > 0 && count > 0;) {
    if (i >= count && LargestOf(free.first(i), count) >= cpus) continue;
    mask.push_back(i);
    cpus -= free[i];
    --count;
  }
  return mask;
}

void Take(std::vector<std::size_t> mask, std::int32_t cpus, std::vector<std::int32_t>& free) {
  // The smaller remainders go first, so that what is left is left in one piece.
  std::sort(mask.begin(), mask.end(), [&](std::size_t a, std::size_t b) {
    return free[a] != free[b] ? free[a] < free[b] : a < b;
  });
  for (const std::size_t cell : mask) {
    const std::int32_t taken = std::min(free[cell], cpus);
    free[cell] -= taken;
    cpus -= taken;
  }
}

}  // namespace

bool TakeCpus(NumaPolicy policy,
              std::span<const NumaCell> cells,
              std::int32_t cpus,
              std::vector<std::int32_t>& free) {
  std::vector<std::int32_t> totals;
  totals.reserve(cells.size());
  for (const NumaCell& cell : cells) totals.push_back(cell.cpus);
  const std::size_t narrowest = FewestFor(totals, cpus);
  const std::size_t possible = FewestFor(free, cpus);
  const bool there = possible <= free.size();
  if (policy == NumaPolicy::kSingleNumaNode && (!there || possible != 1)) return false;
  if (policy == NumaPolicy::kRestricted && (!there || possible != narrowest)) return false;
  if (there) {
    Take(LowestMask(free, possible, cpus), cpus, free);
  } else {
    std::fill(free.begin(), free.end(), 0);
  }
  return true;
}

std::optional<std::int32_t> TakePod(const NumaSpec& node,
                                    const NumaRules& pod,
                                    std::vector<std::int32_t>& free) {
  const std::vector<std::int32_t> before = free;
  for (const std::int32_t cpus : pod.cpus) {
    if (TakeCpus(node.policy, node.cells, cpus, free)) continue;
    free = before;
    return std::nullopt;
  }
  std::int32_t touched = 0;
  for (std::size_t i = 0; i < free.size(); ++i) touched += free[i] != before[i] ? 1 : 0;
  return touched;
}

}  // namespace strata
