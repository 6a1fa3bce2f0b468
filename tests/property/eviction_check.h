#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/cluster_state.h"

namespace strata::testing {

// What must be true of every eviction, judged from the state before a cycle and inside it, without
// asking the scheduler. Faults are sentences; "" is good.
class EvictionCheck {
 public:
  // Looks at the state before the cycle.
  EvictionCheck(const ClusterState& state, std::string action, Time now);

  // When the actions have run and nothing has been given back: nobody protected goes, no gang loses
  // a part, nobody goes who could stay (with one claimant), and each claimant has all its places,
  // in its topology.
  [[nodiscard]] std::string FaultsInside();

 private:
  struct Loss {
    std::vector<TaskId> gone;
    std::vector<TaskId> left;  // still run
    bool was_complete = false;
  };

  [[nodiscard]] bool IsComplete(const Job& job, const std::vector<TaskId>& pods) const;
  // True when enough of the job's sub-groups are complete with these pods.
  [[nodiscard]] bool HasSubGroups(const Job& job, const std::vector<TaskId>& pods) const;
  [[nodiscard]] bool IsProtected(const Task& task) const;
  [[nodiscard]] bool CouldStay(const std::vector<TaskId>& pods) const;
  void CheckVictim(JobId id, const Loss& loss);
  void CheckClaimant(JobId id);
  void CheckTier(const TopologySpec& topology,
                 const std::vector<TaskId>& pods,
                 const std::string& what);
  void CheckScope(const Job& victim);
  void Fault(const std::string& sentence) { faults_ += sentence + '\n'; }

  const ClusterState& state_;
  std::string action_;
  Time now_;
  std::set<TaskId> ran_;  // before the cycle
  std::map<JobId, bool> was_complete_;
  std::set<JobId> claimants_;
  std::string faults_;
};

}  // namespace strata::testing
