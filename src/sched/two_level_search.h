#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sched/domain_kinds.h"
#include "sched/level_search.h"
#include "sched/second_search.h"
#include "sched/session.h"
#include "sched/worksheet.h"

namespace strata {

// Finds the place of a job with sub-groups, on two levels: in every eligible HyperNode of a tier
// each sub-job finds its own place below it, and the HyperNode with the highest sum of their scores
// is the answer. The lowest tier with an answer wins.
//
// Lives for one job and one pass.
class TwoLevelSearch {
 public:
  // `second` looks again in tiers where nothing is found; it may be null.
  TwoLevelSearch(Session& session, LevelSearch& search, SecondSearch* second = nullptr)
      : session_(session), search_(search), second_(second) {}

  // Searches at or below `within`. When not ok, the state is as before.
  [[nodiscard]] SearchOutcome Run(HyperNodeId within, JobId job, Worksheet& worksheet, Pass pass);

 private:
  // A whole job placed below one HyperNode, then rolled back and ready to be done again.
  struct Plan {
    struct Step {
      TaskId task;
      NodeId node;
      bool idle = true;
      GpuClaim gpus;
    };
    HyperNodeId hypernode;
    std::vector<Step> steps;
    std::vector<std::string> sub_job_hypernodes;
    Worksheet worksheet;
    FoundPlace found;
    bool in_place = false;  // not rolled back, since there is no other plan to compare it with
  };
  enum class Rivals : std::uint8_t { kNone, kSome };

  // The best plan in one tier.
  [[nodiscard]] std::optional<Plan> PlanInTier(const SearchLevel& level,
                                               const Gradient::Tier& tier,
                                               const Worksheet& worksheet,
                                               Pass pass,
                                               SearchOutcome& outcome);
  // Lets the second search place the whole job below one HyperNode of the tier.
  [[nodiscard]] bool FindAgain(const SearchLevel& level,
                               const Gradient::Tier& tier,
                               Worksheet& worksheet);
  // Places the sub-jobs below level.within, records the placements, and rolls them back, unless
  // there are no rivals.
  [[nodiscard]] std::optional<Plan> PlanBelow(const SearchLevel& level,
                                              const Worksheet& worksheet,
                                              Pass pass,
                                              Rivals rivals,
                                              SearchOutcome& outcome);
  // Places the sub-jobs one after the other below level.within, until the job is ready.
  void PlaceSubJobs(const SearchLevel& level, Pass pass, Plan& plan, SearchOutcome& outcome);
  void Adopt(JobId job, const Plan& plan, Worksheet& worksheet);
  // The kinds of HyperNodes for all tasks of a job that has nothing placed; else null.
  [[nodiscard]] DomainKinds* KindsForAll(JobId job, const Worksheet& worksheet);

  Session& session_;
  LevelSearch& search_;
  SecondSearch* second_;
};

}  // namespace strata
