#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/constraints.h"

// What the volumes of a pod demand of its node, compiled at the edge.
namespace strata {

// A volume that a CSI driver attaches to the node of the pod. Pods that share it share one place.
struct AttachedVolume {
  std::string driver;
  std::string handle;

  auto operator<=>(const AttachedVolume&) const = default;
};

struct VolumeRules {
  using AnyOf = std::vector<NodeSelectorTerm>;  // empty: no node

  std::string refusal;         // why no node will do, in kube-scheduler's words; "" if one may
  std::vector<AnyOf> bound;    // by the node affinity of bound volumes, all of them
  std::vector<AnyOf> zones;    // by the zone labels of bound volumes, all of them
  std::vector<AnyOf> waiting;  // where claims without a volume can be given one, all of them
  std::vector<AttachedVolume> attached;  // sorted
  std::vector<std::string> exclusive;    // ReadWriteOncePod claims, "namespace/name", sorted

  auto operator<=>(const VolumeRules&) const = default;
  // No rule at all. Asked for every node that a class looks at.
  [[nodiscard]] bool empty() const {
    return refusal.empty() && bound.empty() && zones.empty() && waiting.empty() &&
           attached.empty() && exclusive.empty();
  }
};

// How many volumes a driver attaches to one node; a driver that is not named has no limit.
using VolumeLimits = std::map<std::string, std::int32_t, std::less<>>;

}  // namespace strata
