#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/cluster_state.h"
#include "tests/support/cycle.h"

namespace strata::testing {

// What must be true of any cycle (architecture: invariants 1, 2 and 6), judged from the state
// before it, inside it and after it, without asking the scheduler. Faults are sentences; "" is
// good.
class CycleCheck {
 public:
  // Looks at the state before the cycle.
  explicit CycleCheck(const ClusterState& state);

  // When the actions have run and nothing has been given back: no node is over-committed, now or
  // once everything that terminates is gone; placements respect what pods and nodes demand; no
  // queue got more than its share.
  [[nodiscard]] std::string FaultsInside();
  // After the cycle: gangs are whole, hard limits are kept, and who waits knows why.
  [[nodiscard]] std::string FaultsAfter(const Decisions& decisions);

 private:
  struct Share {
    std::vector<double> deserved;
    std::vector<double> limit;  // of gangs that have started and are not complete
  };

  void CheckPlacement(TaskId id);
  void CheckPorts(NodeId node);
  void CheckPeers(const std::vector<TaskId>& placed);
  void CheckQuota(QueueId id, const std::vector<TaskId>& placed);
  void CheckGang(JobId id, const Decisions& decisions);
  void CheckHard(JobId id, const Decisions& decisions);
  void CheckVerdict(JobId id, const Decisions& decisions);

  [[nodiscard]] std::vector<TaskId> NewlyPlaced() const;
  [[nodiscard]] bool BoundAny(const Job& job, const Decisions& decisions) const;
  void Fault(const std::string& sentence) { faults_ += sentence + '\n'; }

  const ClusterState& state_;
  std::set<std::string> pending_before_;                  // tasks
  std::set<JobId> started_before_;                        // jobs with tasks that have a node
  std::map<std::string, std::set<NodeId>> nodes_before_;  // of allocated tasks, by constraint
  std::map<QueueId, Share> shares_;
  std::string faults_;
};

}  // namespace strata::testing
