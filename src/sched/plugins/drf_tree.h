#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster_state.h"
#include "sched/plugins/queue_shares.h"

// Dominant resource fairness, of jobs and, over a hierarchy of queues, of whole branches.
namespace strata {

// The largest part of the cluster that `allocated` is, over all resources of which there is any.
[[nodiscard]] double DominantShare(const Amounts& allocated, const Amounts& total);

// A branch is written as its path from the root, "root/a/b", and the weights along it, "1/2/8".
struct DrfPath {
  std::vector<std::string> names;  // without the root
  std::vector<double> weights;     // of each of `names`; at least 1, and 1 where none is given
};

// By the annotations volcano.sh/hierarchy and volcano.sh/hierarchy-weights where the queue has
// both, else by spec.parent and spec.weight. A queue whose parent is missing, or that is its own
// ancestor, is taken as a child of the root.
[[nodiscard]] DrfPath DrfPathOf(const ClusterState& state, const QueueSpec& queue);

// The hierarchy with what its jobs have at one moment. Leaves are jobs. A branch counts its
// children as if each had as little as the least of them that still wants more, so that nobody is
// punished for what cannot be given to others.
class DrfTree {
 public:
  struct Leaf {
    Amounts allocated;
    Amounts request;  // of all its tasks
  };

  explicit DrfTree(Amounts total);
  void Add(const DrfPath& path, Leaf leaf);
  // Works out shares and saturation. REQUIRES: every leaf has been added.
  void Finish();

  // Negative when the branch of `a` is to be served first: where the ways to both part, or level by
  // level, a branch that wants more comes before one that cannot have more, then the smaller share
  // by weight.
  [[nodiscard]] int Compare(const DrfPath& a, const DrfPath& b) const;
  // The share of a branch, 0 for one without jobs.
  [[nodiscard]] double ShareOf(const DrfPath& path) const;

 private:
  struct Branch {
    double weight = 1;
    std::map<std::string, std::size_t, std::less<>> children;  // branches by name
    std::vector<Leaf> leaves;
    Amounts allocated;
    double share = 0;
    bool saturated = false;
  };
  struct Part {
    const Amounts* allocated = nullptr;
    double share = 0;
    bool saturated = false;
  };
  [[nodiscard]] bool IsSaturated(const Leaf& leaf, const std::vector<bool>& wanted) const;
  void Combine(Branch& branch, const std::vector<Part>& parts) const;
  // The branches along a path, the root first; those that do not exist are left out.
  [[nodiscard]] std::vector<const Branch*> Along(const DrfPath& path) const;

  Amounts total_;
  Amounts total_allocated_;
  std::vector<Branch> branches_;  // the root first, parents before children
};

}  // namespace strata
