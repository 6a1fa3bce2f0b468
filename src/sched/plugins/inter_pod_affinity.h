#pragma once

#include <cstdint>
#include <span>

#include "base/ids.h"
#include "sched/peer_counts.h"

// Pod affinity and anti-affinity as kube-scheduler's InterPodAffinity decides them.
namespace strata {

enum class AffinityRefusal : std::uint8_t {
  kNone,
  kAffinity,
  kAntiAffinity,
  kExistingAntiAffinity
};

// Why the node does not take a task of the class, the first that applies. Required affinity of a
// pod that is the first of those it asks for holds on every node that has the topology keys.
[[nodiscard]] AffinityRefusal RefuseByAffinity(const PeerCounts& peers, NodeId node);
// "node(s) didn't match pod affinity rules". REQUIRES: not kNone.
[[nodiscard]] const char* ToString(AffinityRefusal refusal);

// 0..100: the sum of the preferred weights of both sides in the domains of each node, scaled over
// the nodes given.
void ScoreAffinity(const PeerCounts& peers,
                   std::span<const NodeId> nodes,
                   std::span<std::int64_t> out);

}  // namespace strata
