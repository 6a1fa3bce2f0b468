#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/cluster_state.h"
#include "sched/trace.h"

namespace strata::testing {

// Follows a trace and says where a choice was not the best by the documented rules: the highest
// total, which is the sum over the plugins; of equal nodes one under the leaf of the rank before,
// then the lower name; of equal HyperNodes the one with more tasks of the job, then the lower name,
// and whatever ranks higher failed. Faults are sentences; "" is good.
class TraceCheck {
 public:
  // Looks at the state before the cycle.
  explicit TraceCheck(const ClusterState& state);

  [[nodiscard]] std::string Faults(const std::vector<TraceRecord>& records);

 private:
  struct Place {
    std::string node;
    bool lasts = true;  // false: terminating, or of a status that is not allocated
  };
  struct JobView {
    std::map<std::string, Place> places;  // by task
    std::vector<std::string> undecided;   // placed since the last commit or discard
    bool has_sub_groups = false;
    bool all_last = true;
  };

  void Look(const GradientRecord& record);
  void Look(const HyperNodeScoreRecord& record);
  void Look(const NodeScoreRecord& record);
  void Look(const RejectRecord& record);
  void Look(const StepRecord& record);
  void Look(const NearestMissRecord& record);
  void Look(const EvictionRecord& record);

  [[nodiscard]] bool RanksBefore(const std::string& a, const std::string& b) const;
  [[nodiscard]] std::optional<HyperNodeId> LeafBefore(const JobView& job,
                                                      const std::string& task) const;
  [[nodiscard]] HyperNodeId LeafOf(const std::string& node) const;
  [[nodiscard]] int TasksIn(const JobView& job, const std::string& hypernode) const;
  void CheckTotals(const std::string& where,
                   const std::map<std::string, ScoresByName>& scores,
                   const ScoresByName& total);
  void Fault(const std::string& sentence) { faults_ += sentence + '\n'; }

  const ClusterState& state_;
  std::map<std::string, Task> tasks_;
  std::map<std::string, JobView> jobs_;
  std::string faults_;
};

}  // namespace strata::testing
