#include "sched/eviction/who_stays.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/plural.h"
#include "sched/eviction/spare_pods.h"

namespace strata {

std::size_t MayLose(const ClusterState& state, const VictimFinder::Candidate& candidate) {
  if (candidate.whole) return candidate.open.size();
  return static_cast<std::size_t>(std::count_if(candidate.open.begin(),
                                                candidate.open.end(),
                                                [&](TaskId task) { return IsSpare(state, task); }));
}

std::string WhoStays(const ClusterState& state,
                     const VictimFinder& finder,
                     const EvictionClaim& claim,
                     const VictimFinder::Found& found) {
  std::map<std::string, std::size_t> kinds = finder.Kept(claim, found);
  for (const VictimFinder::Candidate& candidate : found.candidates) {
    if (!finder.IsGranted(found.tier, claim, candidate)) continue;
    const std::size_t may_lose = MayLose(state, candidate);
    if (may_lose > 0) kinds[VictimFinder::WithoutRight(claim.kind)] += may_lose;
    const std::size_t needed = candidate.open.size() - may_lose;
    if (needed > 0) kinds["that their gangs need"] += needed;
  }
  std::vector<std::string> parts;
  parts.reserve(kinds.size());
  for (const auto& [kind, count] : kinds) {
    parts.push_back(fmt::format("{} {}", Plural(count, "pod"), kind));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace strata
