#pragma once

#include <vector>

#include "convert/load_cluster.h"
#include "model/cluster_state.h"
#include "objects/object_set.h"

namespace strata {

// Adds what is wrong with the GPU annotations of the objects: texts that cannot be read, claims of
// GPUs that are not there, GPUs that are claimed beyond what they have, pods that hold GPUs without
// a claim, policies nobody knows. What is wrong with every pod of an owner is said once.
// REQUIRES: `state` was loaded from `objects`.
void WarnOfGpus(const objects::ObjectSet& objects,
                const ClusterState& state,
                std::vector<LoadWarning>& warnings);

}  // namespace strata
