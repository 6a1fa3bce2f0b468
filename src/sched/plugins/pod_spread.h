#pragma once

#include <cstdint>
#include <span>

#include "base/ids.h"
#include "sched/peer_counts.h"

// Topology spread constraints as kube-scheduler's PodTopologySpread decides them.
namespace strata {

enum class SpreadRefusal : std::uint8_t { kNone, kMissingLabel, kSkew };

// Why the DoNotSchedule rules of the class keep its tasks off the node, the first that applies.
[[nodiscard]] SpreadRefusal RefuseBySpread(const PeerCounts& peers, NodeId node);
// "node(s) didn't match pod topology spread constraints". REQUIRES: not kNone.
[[nodiscard]] const char* ToString(SpreadRefusal refusal);

// True when the class has ScheduleAnyway rules, so that ScoreSpread tells nodes apart.
[[nodiscard]] bool PrefersSpread(const PeerCounts& peers);
// 0..100 by the ScheduleAnyway rules, the emptiest domains highest, scaled over the nodes given. A
// node without all of their topology keys gets 0.
void ScoreSpread(const PeerCounts& peers,
                 std::span<const NodeId> nodes,
                 std::span<std::int64_t> out);

// The natural logarithm of a number of at least 1, by the same steps on every machine.
[[nodiscard]] double NaturalLog(double number);

}  // namespace strata
