#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/cluster_state.h"

namespace strata::testing {

// What hierarchical capacity gives queues, by the formulas of docs/configuration.md, written down a
// second time: by names, from the top, every sum counted from the tasks. Slow and plain on purpose.
class QuotaOracle {
 public:
  // REQUIRES: the queues form a tree below "root", which need not be there.
  explicit QuotaOracle(const ClusterState& state);

  // By queue, all but the root, ascending.
  [[nodiscard]] std::vector<std::string> Names() const;
  [[nodiscard]] bool IsLeaf(const std::string& queue) const { return ChildrenOf(queue).empty(); }
  [[nodiscard]] double Guarantee(const std::string& queue, ResourceId resource) const;
  [[nodiscard]] double Capability(const std::string& queue, ResourceId resource) const;
  [[nodiscard]] double RealCapability(const std::string& queue, ResourceId resource) const;
  [[nodiscard]] double Deserved(const std::string& queue, ResourceId resource) const;
  // As things are now: what the queue and all below it hold,
  [[nodiscard]] double Held(const std::string& queue, ResourceId resource) const;
  // what it, or queues below it, are guaranteed and do not hold,
  [[nodiscard]] double Owed(const std::string& queue, ResourceId resource) const;
  // and the largest part of what it deserves that it holds.
  [[nodiscard]] double Share(const std::string& queue) const;

 private:
  [[nodiscard]] std::vector<std::string> ChildrenOf(const std::string& queue) const;
  [[nodiscard]] double GuaranteedBelow(const std::string& queue, ResourceId resource) const;

  const ClusterState& state_;
  std::map<std::string, const QueueSpec*> specs_;
};

}  // namespace strata::testing
