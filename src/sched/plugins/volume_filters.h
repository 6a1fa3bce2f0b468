#pragma once

#include <string>

#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/peer_counts.h"

namespace strata {

// What the volumes of a pod let it do, as kube-scheduler's VolumeBinding, VolumeZone,
// NodeVolumeLimits and VolumeRestrictions decide it. Each part can be switched off.
struct VolumeFilters {
  bool binding = true;
  bool zones = true;
  bool limits = true;

  // Why no pod with these volumes goes to the node, in kube-scheduler's words; "" if one may.
  [[nodiscard]] std::string RefuseSpec(const VolumeRules& volumes, const NodeSpec& node) const;
  // Its drivers would have more volumes attached to the node than they take there.
  // COST: O(tasks on the node), nothing for pods without such volumes.
  [[nodiscard]] bool ExceedsLimit(const ClusterState& state,
                                  const VolumeRules& volumes,
                                  NodeId node) const;
  // Another pod uses a claim that only one may use.
  [[nodiscard]] bool IsClaimInUse(const PeerCounts& peers) const {
    return binding && peers.claim_users() > 0;
  }
};

}  // namespace strata
