#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "convert/pod_tasks.h"
#include "model/cluster_state.h"
#include "objects/object_set.h"

namespace strata {

// Pods that wait for a PodGroup which is not there.
struct MissingGroup {
  std::string name;      // "namespace/podgroup"
  std::size_t pods = 0;  // that have no node
};

// Something in an object that is used otherwise than it was meant.
struct LoadWarning {
  std::string object;   // "Node a"
  std::string reason;   // a word of docs/reasons.md
  std::string message;  // and the sentence
};

struct LoadReport {
  std::vector<MissingGroup> missing_groups;  // ascending by name; their pods are not in the state
  std::vector<TaskId> terminating;           // tasks with a deletionTimestamp
  std::vector<LoadWarning> warnings;
};

// Puts a whole set of objects into an empty state, through a ClusterFeed: nodes, HyperNodes, queues
// (and a queue "default" of weight 1 unless there is one), quotas, PodGroups, pods. Jobs must have
// been expanded and lone pods given their PodGroups.
//
// A pod on a node uses room there, whichever scheduler put it there; it belongs to the job its
// annotation names, if that exists. A pod without a node counts only if `takes` says that we
// schedule it, and is left out when it is already being deleted.
//
// kInvalidArgument, one line that names file, object and field, when an amount or a sum of them
// does not fit into 64 bits; the state is useless afterwards.
[[nodiscard]] Result<LoadReport> LoadCluster(const objects::ObjectSet& objects,
                                             const TakesPod& takes,
                                             ClusterState& state);

inline constexpr const char* kDefaultQueue = "default";
// The queue of everybody who names none, where the cluster has none of its name.
[[nodiscard]] QueueSpec DefaultQueue();

}  // namespace strata
