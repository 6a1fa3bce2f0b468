#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/class_view.h"

namespace strata {

// The ClassView of each class of tasks, made when it is first asked for and kept across cycles.
// Memory is bounded: see Trim.
class ClassViewCache {
 public:
  // REQUIRES: `state` and `points` outlive it.
  ClassViewCache(const ClusterState& state, const NodePoints& points)
      : state_(state), points_(points) {}

  // Valid until a call of Trim returns true, or of Drop.
  [[nodiscard]] ClassView& Of(ClassId class_id) {
    if (class_id.index() < views_.size() && views_[class_id.index()] != nullptr) {
      return *views_[class_id.index()];
    }
    return Make(class_id);
  }

  // Drops all views when they exceed the memory budget, or when the state has renumbered its
  // classes. True when it did.
  [[nodiscard]] bool Trim();
  // Drops all views.
  void Drop();

 private:
  ClassView& Make(ClassId class_id);

  const ClusterState& state_;
  const NodePoints& points_;
  std::vector<std::unique_ptr<ClassView>> views_;  // by class
  std::size_t made_ = 0;
  std::uint64_t class_epoch_ = 0;  // of the state, when the views were made
};

}  // namespace strata
