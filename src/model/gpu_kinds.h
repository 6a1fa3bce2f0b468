#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/ids.h"
#include "model/gpu.h"
#include "model/node.h"
#include "model/resources.h"
#include "model/workload.h"

namespace strata {

class NodeTable;

// The kinds of GPUs that the nodes of the cluster register: a handful, on thousands of nodes. What
// changes by the hour, such as the health of a GPU, is not a part of its kind.
//
// Only NodeTable changes it.
class GpuKinds {
 public:
  // Another number when a class may find GPUs of other kinds than before.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  // What a pod of the class takes of the smallest GPU that it may use, by its request, its node
  // selector and its required node affinity; in thousandths of a GPU. None when there is no such
  // GPU. REQUIRES: the class asks for GPUs. COST: O(kinds) where no label decides.
  [[nodiscard]] std::optional<Amount> LargestAmount(const ClassSpec& spec,
                                                    const NodeTable& nodes) const;
  // The same for a request alone, of a GPU on whatever node.
  [[nodiscard]] std::optional<Amount> LargestAmount(const GpuRequest& request) const;

  // ---- changes
  // The node is described by `after` instead of `before`; nullptr: it is not in the cluster.
  void Replace(NodeId node, const NodeSpec* before, const NodeSpec* after);

 private:
  // By all that makes a kind; the GPU is any of it.
  struct Less {
    bool operator()(const Gpu& a, const Gpu& b) const;
  };
  using Kinds = std::set<Gpu, Less>;

  [[nodiscard]] static Kinds KindsOf(const NodeSpec* spec);

  std::map<Gpu, std::set<NodeId>, Less> nodes_of_;
  std::uint64_t version_ = 1;
};

}  // namespace strata
