#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sched/cycle_result.h"
#include "sched/eviction/clearing_bounds.h"
#include "sched/eviction/cost.h"
#include "sched/eviction/domain_order.h"
#include "sched/eviction/plan_proof.h"
#include "sched/eviction/room_request.h"
#include "sched/eviction/settings.h"
#include "sched/eviction/victim_finder.h"
#include "sched/search.h"
#include "sched/session.h"

namespace strata {

// Finds who has to go so that one gang can start, or grow: of all HyperNodes that the gang's
// topology allows the one whose clearing costs least.
//
//   1. Sums say what clearing each allowed HyperNode costs at least (ClearingBounds). One in which
//      everything together is not enough is out.
//   2. Those that may be the cheapest get an estimate: the cheapest units there whose room is
//      enough by counting slots (ClearingSearch).
//   3. The cheapest estimates, at most EvictionSettings::max_domains, are proven: the search itself
//      places the whole gang in the HyperNode with the units evicted in the journal (PlanProof).
//      Where the slots were too optimistic, further units are tried.
//   4. Units that the places do not need stay.
//
// HyperNodes whose bound is not below the best plan are never looked at.
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
    std::optional<EvictionRecord> record;  // with a plan, where somebody listens
  };

  // REQUIRES: all of them outlive it.
  EvictionPlanner(Session& session, Search& search, const EvictionSettings& settings)
      : session_(session), search_(search), settings_(settings), finder_(session, settings) {}

  [[nodiscard]] Answer Plan(const RoomRequest& asked);
  // Evicts and pipelines what the answer says, and makes it final. REQUIRES: it has a plan, and the
  // state is as it was when it was found.
  void Commit(const Answer& answer);

 private:
  // A HyperNode, and what is known of its clearing.
  struct Option {
    HyperNodeId domain;
    EvictionClaim claim;
    std::vector<Victim> victims;
    ClearingBounds::Bound bound;
    Clearing clearing;  // with the cost of the bound until it is estimated
    bool estimated = false;
    Places places;  // once it is proven
  };
  // What one call of Plan is about.
  struct Inquiry {
    const RoomRequest& asked;
    const EvictionClaim& claim;  // in the cluster as a whole
    const VictimFinder::Found& found;
    const VictimMap& victims;
    const Wanted& wanted;
    std::optional<std::string> not_entitled = {};
    bool has_victims = false;     // in one of the HyperNodes that were looked at
    bool ruled_out = false;       // a HyperNode, by sums
    bool out_of_domains = false;  // settings_.max_domains ended the search
    bool cut = false;             // not every choice of units was tried in a HyperNode
  };

  [[nodiscard]] std::vector<HyperNodeId> AllowedDomains(JobId job) const;
  // The HyperNodes that may be enough, with what they cost at least.
  [[nodiscard]] std::vector<Option> Bounded(Inquiry& inquiry) const;
  // The HyperNodes that are left to look at, and what was spent on the others.
  struct Race {
    std::vector<Option> options;  // a heap, the cheapest first
    std::vector<Option> beaten;   // proven, and not the best
    bool soft = false;            // the gang's topology
    std::size_t proofs_left = 0;
    std::size_t estimates = 0;
  };
  // The cheapest plan that the search proves; none when there is none.
  [[nodiscard]] std::optional<Option> Best(Inquiry& inquiry, Race& race);
  // The next HyperNode for which there is a plan; none when no other one may be cheaper than the
  // rival, which may be null.
  [[nodiscard]] std::optional<Option> NextProven(Inquiry& inquiry, Race& race, const Option* rival);
  // The plan, with the next best HyperNodes. The race goes on for them.
  [[nodiscard]] EvictionRecord Tell(Inquiry& inquiry, Race& race, const Option& best);
  // False for a HyperNode around the best one in which the same pods would go.
  [[nodiscard]] bool IsAnother(const Option& option, const Option& best) const;
  [[nodiscard]] EvictionRecord::Domain DomainOf(const Option& option) const;
  [[nodiscard]] DomainPrice PriceOf(const Option& option) const;
  // Sets the claim, the victims and the clearing; false when there is none.
  [[nodiscard]] bool Estimate(Inquiry& inquiry, Option& option);
  // Sets the clearing of the option by counting slots; false when there is none.
  [[nodiscard]] bool Clear(Inquiry& inquiry, Option& option);
  [[nodiscard]] bool Prove(Inquiry& inquiry, Option& option);
  // Sets the places of the option, and leaves out units that they do not need.
  [[nodiscard]] bool FindPlaces(Inquiry& inquiry, Option& option);
  // The units of an estimate that slots alone made too small, extended until the search succeeds.
  [[nodiscard]] bool ProveWithMore(Inquiry& inquiry, Option& option, PlanProof& proof);
  // True when rights hold for what the plan really takes, to which it sets option.claim.contested.
  [[nodiscard]] bool IsEntitled(const Inquiry& inquiry, Option& option);
  [[nodiscard]] CycleResult::EvictionPlan Describe(JobId job, const Option& option) const;
  // Counts those to which a plugin gives the claimant a right, as far as gangs keep their minimums.
  [[nodiscard]] std::size_t PodsThatMayGo(const Inquiry& inquiry) const;
  [[nodiscard]] Refusal WhyNobody(const Inquiry& inquiry) const;

  Session& session_;
  Search& search_;
  const EvictionSettings& settings_;
  VictimFinder finder_;
};

}  // namespace strata
