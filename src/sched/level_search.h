#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sched/domain_index.h"
#include "sched/gang_search.h"
#include "sched/place_request.h"
#include "sched/session.h"
#include "sched/topology_limit.h"
#include "sched/worksheet.h"

namespace strata {

class SecondSearch;

// What one level of a search is about: a whole job, or one of its sub-jobs.
struct SearchLevel {
  JobId job;
  std::string sub_job;    // its name in the trace; "" for a whole job
  HyperNodeId within;     // search at or below this HyperNode
  HyperNodeId allocated;  // where the job or sub-job already runs, none if nowhere
  TopologyLimit limit;
  Need need;
  SecondSearch* second = nullptr;  // for tiers where the gang finds no place; may be null
};

struct SearchOutcome {
  bool ok = false;               // the placements are in the state, the worksheet is advanced
  std::optional<Refusal> quota;  // the first refusal of the queue's quota, if there was one
  // The budget of the second search, if it was not enough.
  std::optional<std::uint64_t> cut = std::nullopt;
  bool follows_ranks = false;  // PlaceOutcome::follows_ranks of the last trial that was ok
};

// The HyperNode where a job or sub-job was placed, and its score.
struct FoundPlace {
  HyperNodeId hypernode;
  std::map<std::string, Score> by_plugin;
  Score score = 0;
};

// Scores of the HyperNodes of one tier, by plugin and in total.
struct TierScores {
  std::vector<HyperNodeId> hypernodes;
  std::map<std::string, std::vector<Score>> by_plugin;
  std::vector<Score> total;
};

// Whether tasks were placed in a HyperNode. While more and more tasks are placed, kNoRoom is final;
// kBlockedBySibling is not: one task took what another needed, and the same tasks may be spread
// otherwise when there is less room.
enum class Fit : std::uint8_t { kPlaced, kBlockedBySibling, kNoRoom };

// Finds the HyperNode for one job or sub-job: tier by tier from the lowest, in a tier by score,
// then by the number of its tasks already there, then by name. The first HyperNode that holds the
// gang is the answer.
//
// Keeps no state of its own between calls.
class LevelSearch {
 public:
  explicit LevelSearch(Session& session, GangSearchSettings settings = {})
      : session_(session), settings_(settings) {}

  // Places what the sheet still has at or below level.within. None, and nothing placed, when no
  // eligible HyperNode holds it. COST: a trial per candidate up to the answer.
  [[nodiscard]] std::optional<FoundPlace> Find(const SearchLevel& level,
                                               Worksheet::Sheet& sheet,
                                               Pass pass,
                                               SearchOutcome& outcome);
  // The same in one HyperNode.
  [[nodiscard]] Fit TryIn(HyperNodeId hypernode,
                          const SearchLevel& level,
                          Worksheet::Sheet& sheet,
                          Pass pass,
                          SearchOutcome& outcome);
  // kFewest: equal pods that were placed in more leaves than they need are placed again in fewer.
  enum class Leaves : std::uint8_t { kAny, kFewest };
  // One trial of exactly this request.
  [[nodiscard]] PlaceOutcome Place(const PlaceRequest& request, Leaves leaves = Leaves::kAny);

  // The HyperNodes where the gang may go, by tier.
  [[nodiscard]] Gradient FindGradient(const SearchLevel& level);
  // Free slots for one class below a HyperNode, counted no further than `enough`.
  [[nodiscard]] std::uint64_t SlotsIn(ClassId class_id, HyperNodeId domain, std::uint64_t enough);

  // Records that the sub-job, or the job, now has tasks in `hypernode`, too: its allocated
  // HyperNode becomes the LCA of what it was and `hypernode`.
  void ExtendAllocated(JobId job, std::size_t sub_job, HyperNodeId hypernode);
  void ExtendAllocated(JobId job, HyperNodeId hypernode);

 private:
  // The HyperNodes of a tier in which the greedy search failed, by rank, as indexes into its
  // scores.
  struct Tried {
    std::vector<std::size_t> failed;
    std::vector<std::size_t> blocked;  // positions in `failed` of those with Fit::kBlockedBySibling
  };
  // The first of the blocked HyperNodes in which the second search places the sheet.
  [[nodiscard]] std::optional<std::size_t> FindAgain(const SearchLevel& level,
                                                     const TierScores& scores,
                                                     Tried& tried,
                                                     Worksheet::Sheet& sheet,
                                                     SearchOutcome& outcome);
  // The HyperNode of that index, as the answer.
  [[nodiscard]] static FoundPlace PlaceAt(const TierScores& scores, std::size_t chosen);
  // A cheap necessary condition: false when the domain has too few free slots for the gang in any
  // order.
  [[nodiscard]] bool MayHold(const PlaceRequest& request);
  // True when it makes no difference which node takes which of the tasks.
  [[nodiscard]] bool AreInterchangeable(std::span<const TaskId> tasks) const;
  [[nodiscard]] TierScores ScoreTier(const SubJob& sub_job,
                                     const Worksheet::Sheet& sheet,
                                     const Resources& need,
                                     const std::vector<HyperNodeId>& hypernodes);
  // Indexes of scores.hypernodes, the best first.
  [[nodiscard]] std::vector<std::size_t> Ranking(const SubJob& sub_job,
                                                 const TierScores& scores) const;
  // Where `placed` has more leaves than it needs: the outcome with fewer. REQUIRES: placed.ok, and
  // `placed` is all that was done since `begin`.
  [[nodiscard]] std::optional<PlaceOutcome> PlaceInFewerLeaves(const PlaceRequest& request,
                                                               const DomainShape& shape,
                                                               Journal::Savepoint begin,
                                                               const PlaceOutcome& placed);

  Session& session_;
  GangSearchSettings settings_;
};

// Records for the trace. REQUIRES for the first two: session.tracing().
void TraceGradient(Session& session, const SearchLevel& level, const Gradient& gradient);
void TraceScores(Session& session,
                 const SearchLevel& level,
                 const TierScores& scores,
                 const std::vector<std::size_t>& failed,
                 HyperNodeId chosen);
void TraceDiscard(Session& session, JobId job, HyperNodeId hypernode);

}  // namespace strata
