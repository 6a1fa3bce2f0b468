#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "inspect/live_cluster.h"
#include "report/text.h"

namespace strata::inspect {

// One job that lost pods to another one, as the scheduler's event about its PodGroup says.
struct EvictionLine {
  Time last{};
  std::string action;    // "gangpreempt"
  std::string evicted;   // "ns/podgroup"
  std::string pods;      // "3 of 3"; "" where the event does not say
  std::string claimant;  // "ns/podgroup" that got the room; likewise, and where nobody did
  std::string where;     // "HyperNode s0 (tier 1)"; "" for the cluster as a whole
  std::int32_t count = 1;
};

// The evictions among the events, oldest first. Volcano's events are read, too; they name only the
// action. Pure.
[[nodiscard]] std::vector<EvictionLine> MakeEvictionReport(const std::vector<ListedObject>& events);

[[nodiscard]] std::string RenderEvictions(const std::vector<EvictionLine>& evictions,
                                          Time now,
                                          const TextStyle& style);
[[nodiscard]] std::string RenderEvictionsJson(const std::vector<EvictionLine>& evictions);

}  // namespace strata::inspect
