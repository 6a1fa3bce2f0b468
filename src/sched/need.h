#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "model/cluster_state.h"
#include "model/resources.h"
#include "model/workload.h"

namespace strata {

// What tasks ask for, in the two units of NodeTable: the room that nodes must have for them, and
// what they count as for their queue.
struct Need {
  Resources room;
  std::optional<Resources> apart = std::nullopt;  // where they count as something else

  [[nodiscard]] const Resources& counted() const { return apart ? *apart : room; }
};

// The tasks as long as they have no node. What exceeds 64 bits is the largest amount: more than any
// cluster has.
[[nodiscard]] Need SumOf(const ClusterState& state, std::span<const TaskId> tasks);

// Whether it counts as fewer GPUs than its pods name (Minimum::has_shares).
[[nodiscard]] bool HasShares(const ClusterState& state, const Need& need);

// What is free below the HyperNode or on the node, counted: as Idle of its sums, but for GPUs that
// nodes register. By resource; less than 0 where tasks use more than there is.
[[nodiscard]] std::vector<Amount> FreeBelow(const ClusterState& state, HyperNodeId domain);
[[nodiscard]] std::vector<Amount> FreeOn(const ClusterState& state, NodeId node);

// What the minResources of a job count as. They name whole numbers of GPUs; where its tasks take
// shares, they count in the same proportion as the tasks do: ten of ten tasks with a tenth of a GPU
// each are one GPU. Before it has tasks, what they say of shares themselves counts.
//
// REQUIRES: the job has minResources, and outlives this.
class Minimum {
 public:
  // COST: O(tasks of the job) when one of them takes shares.
  Minimum(const ClusterState& state, const Job& job);

  [[nodiscard]] const Resources& operator*() const { return apart_ ? *apart_ : written_; }
  [[nodiscard]] const Resources* operator->() const { return &**this; }
  // Whether shares of GPUs make it less than written. What it says of GPUs is then no
  // reason to say that the cluster is too small: on larger GPUs the shares are smaller parts, and
  // some take memory where others take cores.
  [[nodiscard]] bool has_shares() const { return shares_; }

 private:
  const Resources& written_;
  std::optional<Resources> apart_;
  bool shares_ = false;
};

}  // namespace strata
