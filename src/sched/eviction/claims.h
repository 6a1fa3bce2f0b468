#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "sched/cycle_result.h"
#include "sched/eviction/claim.h"
#include "sched/eviction/claim_book.h"
#include "sched/search.h"
#include "sched/session.h"

namespace strata {

// How long a victim may be there after its grace period.
inline constexpr Duration kVictimPatience = std::chrono::seconds(60);

// The claims in one cycle.
//
// At its beginning each claim is looked at, while the others hold their room: its gang starts if
// its nodes are free, or if the search finds it free nodes elsewhere inside its limits; the claim
// is over when it cannot come true any more; otherwise the pods wait on their nodes from there on,
// before anything else is placed. Only a job of higher priority may have that room.
class CycleClaims {
 public:
  // REQUIRES: all of them outlive it.
  CycleClaims(Session& session, Search& search, ClaimBook& book)
      : session_(session), search_(search), book_(book) {}

  // To be called before the first action.
  void Begin();
  // A job with a claim is not tried by the actions: its pods have their places.
  [[nodiscard]] bool Has(JobId job) const { return held_.contains(job); }
  // A claim ended in this cycle without its gang.
  [[nodiscard]] bool HasGivenUp() const;
  // Why nobody is evicted for the job for some time; null when that may be.
  [[nodiscard]] const ClaimBook::Refused* FindRefused(JobId job) const {
    return book_.FindRefused(session_.state().workload().job(job).spec.uid, session_.now());
  }
  [[nodiscard]] ClaimBook& book() { return book_; }
  // Gives up for a moment what jobs of lower priority wait for. False when there is nothing.
  // Restore must follow, when the journal is empty.
  [[nodiscard]] bool LiftFor(JobId job);
  // They wait again. A claim whose room is taken is over.
  void Restore();
  // To be called with the result of the cycle: adds claims for its plans, and says what ended.
  void Close(CycleResult& result);

 private:
  using Found = std::vector<std::pair<TaskId, NodeId>>;
  using Living = std::pair<GangClaim*, JobId>;

  // The claims whose jobs are there, those of the most important first; the others are over.
  [[nodiscard]] std::vector<Living> InOrder();
  void GiveUp(const GangClaim& claim, std::string why);

  // The places of the claim in the state as it is; the reason why it is over when it is.
  [[nodiscard]] std::optional<std::string> Look(const GangClaim& claim, JobId job, Found& found);
  [[nodiscard]] bool IsWithinLimits(JobId job, const Found& found) const;
  [[nodiscard]] std::optional<std::string> WhyLate(GangClaim& claim) const;
  [[nodiscard]] bool Start(const GangClaim& claim, JobId job, const Found& found);
  // Places each pod on its node, as far as they fit, in any order: false, with the others placed,
  // when one does not.
  [[nodiscard]] bool PlaceAll(const GangClaim& claim, const Found& found, DevicePoint::When when);
  [[nodiscard]] bool StartThere(const GangClaim& claim, JobId job, const Found& found);
  // The same on other nodes that are free for so many pods.
  [[nodiscard]] bool StartElsewhere(JobId job, std::size_t pods);
  [[nodiscard]] bool Hold(const GangClaim& claim, JobId job, const Found& found);
  void GiveBack(const Found& found);
  void Tell(const GangClaim& claim, JobId job);
  void End(const std::string& job, ClaimEnd::Kind kind, std::string why);

  Session& session_;
  Search& search_;
  ClaimBook& book_;
  std::map<JobId, Found> held_;  // by claimant
  std::vector<JobId> lifted_;
  std::vector<ClaimEnd> ended_;
};

}  // namespace strata
