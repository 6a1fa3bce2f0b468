#include "sched/plugins/inter_pod_affinity.h"

#include <algorithm>

#include "sched/plugins/kube_scores.h"

namespace strata {
namespace {

bool SatisfiesAffinity(const PeerCounts& peers, NodeId node) {
  bool present = true;
  bool nobody = true;
  for (const Tally& tally : peers.affinity()) {
    if (!tally.HasDomain(node)) return false;
    present = present && tally.In(node) > 0;
    nobody = nobody && tally.total == 0;
  }
  if (present) return true;
  // Somebody has to be the first.
  return nobody && peers.spec().rules.AllAffinityMatches(peers.spec().identity);
}

bool AnyIn(std::span<const Tally> tallies, NodeId node) {
  return std::any_of(
      tallies.begin(), tallies.end(), [&](const Tally& tally) { return tally.In(node) > 0; });
}

}  // namespace

AffinityRefusal RefuseByAffinity(const PeerCounts& peers, NodeId node) {
  if (!SatisfiesAffinity(peers, node)) return AffinityRefusal::kAffinity;
  if (AnyIn(peers.anti_affinity(), node)) return AffinityRefusal::kAntiAffinity;
  if (AnyIn(peers.repulsion(), node)) return AffinityRefusal::kExistingAntiAffinity;
  return AffinityRefusal::kNone;
}

const char* ToString(AffinityRefusal refusal) {
  switch (refusal) {
    case AffinityRefusal::kNone:
      return "";
    case AffinityRefusal::kAffinity:
      return "node(s) didn't match pod affinity rules";
    case AffinityRefusal::kAntiAffinity:
      return "node(s) didn't match pod anti-affinity rules";
    case AffinityRefusal::kExistingAntiAffinity:
      return "node(s) didn't satisfy existing pods anti-affinity rules";
  }
  return "";
}

void ScoreAffinity(const PeerCounts& peers,
                   std::span<const NodeId> nodes,
                   std::span<std::int64_t> out) {
  if (nodes.empty()) return;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    out[i] = 0;
    for (const Tally& tally : peers.attraction()) out[i] += tally.In(nodes[i]);
  }
  const auto scores = out.first(nodes.size());
  const auto [low, high] = std::minmax_element(scores.begin(), scores.end());
  const std::int64_t least = *low;
  const std::int64_t range = *high - least;
  for (std::int64_t& score : scores) {
    if (range == 0) {
      score = 0;
      continue;
    }
    const double share = static_cast<double>(score - least) / static_cast<double>(range);
    score = static_cast<std::int64_t>(static_cast<double>(kMaxNodeScore) * share);
  }
}

}  // namespace strata
