#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "model/cluster_state.h"

// How a cluster is divided among its queues by weight.
namespace strata {

// Amounts per ResourceId, in the unit of each resource. Doubles, since shares are fractions.
using Amounts = std::vector<double>;

// Volcano's smallest amount: less than this is nothing.
inline constexpr double kNothing = 0.1;
// The queue above all others; it exists even when no object defines it.
inline constexpr std::string_view kRootQueue = "root";

[[nodiscard]] Amounts ToAmounts(std::span<const Amount> amounts, std::size_t size);

// What one queue asks for, and what it may have.
struct QueueShare {
  QueueId queue;
  std::int32_t weight = 1;
  Amounts request;  // of its allocated and pending tasks
  Amounts guarantee;
  Amounts real_capability;  // (total - all guarantees) at least 0, + its own, at most capability
  Amounts deserved;         // set by ShareOut
  double share = 0;         // ShareOf what it has now; set by ComputeProportion
};

// Divides `total` among the queues. In each round every queue that is not met gets its part, by
// weight, of what remains, but no more than it asks for or may have, and no less than it is
// guaranteed; what is left over is divided again. All vectors have the size of `total`.
void ShareOut(Amounts total, std::span<QueueShare> queues);

// The queues that have jobs, ascending by name, with what each deserves now.
//
// In a capability, cpu and memory of 0 or unset and other resources that are not named are not
// limited. Volcano's `proportion`, except that sums are exact.
[[nodiscard]] std::vector<QueueShare> ComputeProportion(const ClusterState& state);

// The largest part of what it deserves that the queue has of any resource: 0 of nothing is 0,
// anything of nothing is 1.
[[nodiscard]] double ShareOf(const Resources& allocated, const Amounts& deserved);

}  // namespace strata
