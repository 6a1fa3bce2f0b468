#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/cluster_state.h"

namespace strata::testing {

// What must be true of pods with rules about other pods when a cycle has placed them, counted the
// slow way, pod by pod and pair by pair.
class PeerCheck {
 public:
  PeerCheck(const ClusterState& state, const std::vector<TaskId>& placed);

  [[nodiscard]] std::vector<std::string> FaultsOf(TaskId id) const;

 private:
  [[nodiscard]] const ClassSpec& SpecOf(TaskId id) const;
  [[nodiscard]] bool Together(TaskId a, TaskId b, const std::string& key) const;
  // The first pod of those it asks for goes anywhere.
  [[nodiscard]] bool IsFirst(TaskId id) const;
  [[nodiscard]] bool HasCompany(TaskId id, const PodTerm& term) const;
  [[nodiscard]] bool IsTooMany(TaskId id, const SpreadRule& rule) const;

  const ClusterState& state_;
  std::set<TaskId> placed_;
  std::vector<TaskId> there_;  // everything on a node
};

}  // namespace strata::testing
