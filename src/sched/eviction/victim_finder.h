#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sched/eviction/settings.h"
#include "sched/eviction/victim_votes.h"
#include "sched/session.h"

namespace strata {

// Finds the pods that one action may evict, in the state as it is.
//
// Lives for one action of one cycle. What does not depend on the claimant is looked up once, at the
// first question: who runs, and what protects them.
class VictimFinder {
 public:
  // A job that may lose pods to a claimant.
  struct Candidate {
    JobId job;
    bool whole = false;        // the gang may go as a whole: all its pods are in `open`
    std::vector<TaskId> open;  // pods that nothing protects, the first to go first
  };
  struct Found {
    std::vector<Candidate> candidates;        // ascending by job priority, then by name
    std::size_t tier = 0;                     // of the plugins that grant them
    std::map<std::string, std::size_t> kept;  // pods in scope that may not go, by kind of pod
  };

  VictimFinder(const Session& session, const EvictionSettings& settings);

  // The jobs that may lose pods to the claim. Rights that depend on how much is taken are asked
  // about the first pod alone; DomainClearing asks again.
  [[nodiscard]] Found For(const EvictionClaim& claim);

  // The kind of pod that no plugin lets the claim take.
  [[nodiscard]] static const char* WithoutRight(EvictionKind kind);
  // To be called for each job whose pods were evicted or placed since the first question.
  void Refresh(JobId job);

  [[nodiscard]] const VictimVotes& votes() const { return votes_; }

 private:
  struct RunningJob {
    JobId job;
    std::vector<TaskId> pods;
    std::vector<TaskId> open;
    bool in_flight = false;                   // a pod of it is being placed
    std::map<std::string, std::size_t> kept;  // pods that are protected, by kind of pod
  };

  void Collect();
  [[nodiscard]] RunningJob Look(JobId job) const;
  [[nodiscard]] std::string WhyKept(const Task& task, Time job_runs_since) const;
  // Why the claim cannot concern the job at all, as a kind of pod; none when it can.
  [[nodiscard]] std::optional<std::string> OutOfReach(const EvictionClaim& claim,
                                                      const Job& victim) const;
  // The jobs in scope that have a pod which nothing protects; counts the others in `kept`.
  [[nodiscard]] std::vector<const RunningJob*> Reachable(
      const EvictionClaim& claim, std::map<std::string, std::size_t>& kept) const;
  [[nodiscard]] bool IsGranted(std::size_t tier,
                               const EvictionClaim& claim,
                               const RunningJob& running) const;
  void SortOpen(std::vector<TaskId>& pods) const;

  const Session& session_;
  VictimVotes votes_;
  bool collected_ = false;
  std::vector<RunningJob> running_;  // ascending by job priority, then by name
};

}  // namespace strata
