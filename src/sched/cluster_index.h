#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sched/domain_index.h"
#include "sched/session.h"

namespace strata {

// The indexes of the whole cluster, by class, kept between jobs and cycles and brought up to date
// from the nodes that changed: plain pods come in thousands, and each changes one node.
class ClusterIndex {
 public:
  explicit ClusterIndex(Session& session) : session_(session) {}

  [[nodiscard]] const DomainShape& shape();
  // Valid until the next call of either. COST: O(changed nodes x log nodes), O(nodes) for a class
  // not seen lately.
  [[nodiscard]] DomainIndex& For(ClassId class_id);

 private:
  struct Entry {
    std::uint64_t version = 0;  // changes before this one are in
    std::unique_ptr<DomainIndex> index;
  };

  Session& session_;
  std::uint64_t tree_version_ = 0;
  std::unique_ptr<DomainShape> shape_;
  std::vector<std::uint32_t> positions_;  // by node
  std::map<ClassId, Entry> entries_;
};

}  // namespace strata
