#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "model/cluster_state.h"

// The jobs that hold what another job needs.
namespace strata {

// A job, or a pod that stands for itself, and what it holds of the resources in question.
struct Holder {
  enum class Kind : std::uint8_t { kJob, kPod } kind = Kind::kJob;
  std::string name;  // "ns/podgroup", "ns/pod"
  std::size_t pods = 0;
  std::map<std::string, Amount> amounts;  // by resource, only what is held

  bool operator==(const Holder&) const = default;
};

struct HolderQuery {
  std::vector<ResourceId> resources;
  std::string except;  // a job that is not asked about
  // PodGroups made for lone pods: these go by the name of their pod.
  const std::set<std::string, std::less<>>* made_groups = nullptr;
};

// What runs (or terminates) on the nodes below `domain`, who holds most of the resources first,
// measured by their share of what the cluster has; equal ones by name. COST: the pods there.
[[nodiscard]] std::vector<Holder> HoldersBelow(const ClusterState& state,
                                               HyperNodeId domain,
                                               const HolderQuery& query);

// The same of the jobs of a queue, wherever they run.
[[nodiscard]] std::vector<Holder> HoldersInQueue(const ClusterState& state,
                                                 QueueId queue,
                                                 const HolderQuery& query);

}  // namespace strata
