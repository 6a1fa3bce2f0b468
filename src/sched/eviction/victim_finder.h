#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sched/eviction/settings.h"
#include "sched/eviction/victim_book.h"
#include "sched/eviction/victim_votes.h"
#include "sched/session.h"

namespace strata {

// Finds the pods that one action may evict, in the state as it is.
//
// Lives for one action of one cycle.
class VictimFinder {
 public:
  // A job that may lose pods to a claimant.
  struct Candidate {
    JobId job;
    bool whole = false;            // the gang may go as a whole: all its pods are in `open`
    bool own = false;              // it is the claimant: single pods of it may go
    std::span<const TaskId> open;  // pods that nothing protects, the first to go first
  };
  struct Found {
    std::vector<Candidate> candidates;           // in no particular order
    std::size_t tier = 0;                        // of the plugins that grant some of them
    std::deque<std::vector<TaskId>> lists = {};  // what `open` of some of them points into
  };

  VictimFinder(Session& session, const EvictionSettings& settings);

  // The jobs that may lose pods to the claim: those that the plugins of the tier may grant it, and
  // at least one that they do. Whether a unit is granted, the one who takes it asks (UnitTaker).
  // Valid until the next call. COST: O(jobs that changed since, and jobs in scope).
  [[nodiscard]] Found For(const EvictionClaim& claim);

  // Pods in scope that may not go, by kind of pod. COST: O(pods in scope).
  [[nodiscard]] std::map<std::string, std::size_t> Kept(const EvictionClaim& claim,
                                                        const Found& found) const;
  // Pods of one job that nobody may evict.
  struct Protected {
    JobId job;
    std::string kind;  // "not preemptable"
    std::size_t pods = 0;
  };
  // Those that the claim might take otherwise. COST: O(pods in scope).
  [[nodiscard]] std::vector<Protected> ProtectedFrom(const EvictionClaim& claim,
                                                     const Found& found) const;
  // True when the claim may take one unit of the job at least.
  [[nodiscard]] bool IsGranted(std::size_t tier,
                               const EvictionClaim& claim,
                               const Candidate& candidate) const;
  // The kind of pod that no plugin lets the claim take.
  [[nodiscard]] static const char* WithoutRight(EvictionKind kind);

  // All pods of the job that have a node, the first to go first; none when one of them must stay,
  // is being bound, or when there are none. REQUIRES: the state is as in the last call of For or of
  // VictimBook::Refresh.
  [[nodiscard]] std::optional<std::span<const TaskId>> AllMayGo(JobId job) const;

  // The jobs that run and may not go as a whole for any claim, with the kind of pod that keeps
  // each. COST: O(pods).
  [[nodiscard]] std::map<JobId, std::string> JobsThatStay();

  [[nodiscard]] const VictimVotes& votes() const { return votes_; }
  [[nodiscard]] const VictimBook& book() const { return book_; }

 private:
  // None when the pod may go; else what kind of pod it is.
  [[nodiscard]] std::string WhyKept(const Task& task, const VictimBook::Entry& entry) const;
  // True when no pod of the job is protected; quickly, so that it may be false without need.
  [[nodiscard]] bool IsOpen(const VictimBook::Entry& entry) const;
  // The same about all pods of the job together.
  [[nodiscard]] std::string WhyAllKept(JobId job) const;
  // Why the claim cannot concern jobs of this queue, as a kind of pod; none when it can.
  [[nodiscard]] std::optional<std::string> OutOfReach(const EvictionClaim& claim,
                                                      QueueId queue) const;
  void AddOpen(JobId job, Found& found) const;
  void AddOwn(const EvictionClaim& claim, Found& found) const;
  void AddOthers(std::size_t tier, const EvictionClaim& claim, Found& found) const;
  // Adds the pods of the job that must stay, and returns how many need not.
  [[nodiscard]] std::size_t CountKept(JobId job, std::map<std::string, std::size_t>& kept) const;
  // How many pods the shelf of that queue and priority has without those of the claimant.
  [[nodiscard]] std::size_t PodsOfOthers(const EvictionClaim& claim,
                                         const std::pair<QueueId, std::int32_t>& place,
                                         const VictimBook::Shelf& shelf) const;

  const Session& session_;
  VictimVotes votes_;
  VictimBook& book_;
};

}  // namespace strata
