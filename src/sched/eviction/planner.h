#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sched/cycle_result.h"
#include "sched/eviction/cost.h"
#include "sched/eviction/plan_proof.h"
#include "sched/eviction/settings.h"
#include "sched/eviction/victim_finder.h"
#include "sched/search.h"
#include "sched/session.h"

namespace strata {

// Finds who has to go so that one gang can start: of all HyperNodes that the gang's topology allows
// the one whose clearing costs least.
//
//   1. Every allowed HyperNode gets an estimate: the cheapest units there whose room is enough by
//      counting slots (ClearingSearch). A HyperNode in which all units together are not enough is
//      out.
//   2. The cheapest estimates, at most EvictionSettings::max_domains, are proven: the search itself
//      places the whole gang in the HyperNode with the units evicted in the journal (PlanProof).
//      Where the slots were too optimistic, further units are tried.
//   3. Units that the places do not need stay.
//
// A hard gang takes a higher tier only if that evicts less important pods, fewer gangs or fewer
// pods; a soft one only for the first two, since closeness is worth pods to it.
//
// Lives for one action of one cycle. The journal is empty before and after each call.
class EvictionPlanner {
 public:
  struct Answer {
    std::optional<CycleResult::EvictionPlan> plan;
    Places places;    // of the gang, with a plan
    Refusal refusal;  // without one; its message is what follows the action's name
  };

  // REQUIRES: all of them outlive it.
  EvictionPlanner(Session& session, Search& search, const EvictionSettings& settings)
      : session_(session), search_(search), settings_(settings), finder_(session, settings) {}

  [[nodiscard]] Answer Plan(JobId job, const Worksheet& worksheet);
  // Evicts and pipelines what the answer says, and makes it final. REQUIRES: it has a plan, and the
  // state is as it was when it was found.
  void Commit(const Answer& answer);

 private:
  // A HyperNode, and what is known of its clearing.
  struct Option {
    HyperNodeId domain;
    EvictionClaim claim;
    std::vector<const Victim*> victims;
    Clearing clearing;
    Places places;  // once it is proven
  };
  // What one call of Plan is about.
  struct Inquiry {
    JobId job;
    const Worksheet& worksheet;
    const VictimFinder::Found& found;
    const VictimList& victims;
    Wanted wanted;
    std::optional<std::string> not_entitled = {};
    bool has_victims = false;  // in one of the HyperNodes
    bool cut = false;
  };

  [[nodiscard]] std::vector<HyperNodeId> AllowedDomains(JobId job) const;
  [[nodiscard]] std::optional<Option> Estimate(Inquiry& inquiry, HyperNodeId domain);
  // Sets the clearing of the option by counting slots; false when there is none.
  [[nodiscard]] bool Clear(Inquiry& inquiry, Option& option);
  [[nodiscard]] bool Prove(Inquiry& inquiry, Option& option);
  // Sets the places of the option, and leaves out units that they do not need.
  [[nodiscard]] bool FindPlaces(Inquiry& inquiry, Option& option);
  // The units of an estimate that slots alone made too small, extended until the search succeeds.
  [[nodiscard]] bool ProveWithMore(Inquiry& inquiry, Option& option, PlanProof& proof);
  // True when rights hold for what the plan really takes, to which it sets option.claim.contested.
  [[nodiscard]] bool IsEntitled(const Inquiry& inquiry, Option& option);
  [[nodiscard]] bool Precedes(const Option& a, const Option& b, bool soft) const;
  [[nodiscard]] std::vector<ResourceId> ShortBelow(const Resources& need, HyperNodeId domain) const;
  [[nodiscard]] std::vector<ResourceId> TakenFromOthers(const Places& places) const;
  [[nodiscard]] CycleResult::EvictionPlan Describe(JobId job, const Option& option) const;
  [[nodiscard]] Refusal WhyNobody(const Inquiry& inquiry) const;
  // "2 pods of the system, 3 pods that their gangs need".
  [[nodiscard]] std::string WhoStays(const Inquiry& inquiry) const;

  Session& session_;
  Search& search_;
  const EvictionSettings& settings_;
  VictimFinder finder_;
};

}  // namespace strata
