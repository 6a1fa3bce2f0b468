#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "model/cluster_state.h"

namespace strata::live {

// Notices nodes whose pods request more than the node has: the API server carried out a bind that a
// former leader had sent, somebody else bound a pod, or the node shrank. Such a node gets no more
// pods; its kubelet rejects what does not fit. A value without effects.
class OvercommitBook {
 public:
  struct Finding {
    std::string node;
    std::string message;  // "pods request 9 cpu, the node has 8; ..."
  };
  // The nodes that have become so since the last time. COST: the nodes that changed.
  [[nodiscard]] std::vector<Finding> TakeNew(const ClusterState& state);

 private:
  std::uint64_t seen_ = 0;  // the version of nodes up to which all were looked at
  std::set<std::string> known_;
};

}  // namespace strata::live
