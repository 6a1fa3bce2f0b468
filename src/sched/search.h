#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sched/cluster_index.h"
#include "sched/domain_board.h"
#include "sched/domain_kinds.h"
#include "sched/session.h"
#include "sched/trial.h"
#include "sched/worksheet.h"

namespace strata {

// Finds the place of a job: the HyperNode of the lowest allowed tier that holds its whole gang, and
// in that tier the best score, then the most tasks already there, then the lower name. A job with
// sub-groups is searched on two levels: every HyperNode of a tier is tried, each sub-job finds its
// own place below it, and the sum of their scores decides.
//
// One Search lives as long as its Session: it keeps the index of the whole cluster, and which
// leaves are alike.
class Search {
 public:
  struct Outcome {
    bool ok = false;               // the placements are in the state; the worksheet has moved on
    std::optional<Refusal> quota;  // the queue's refusal, if that was in the way
  };

  explicit Search(Session& session) : session_(session), cluster_index_(session) {}

  // To be called when the session has forgotten its views.
  void ForgetViews() {
    cluster_index_.ForgetViews();
    domain_kinds_.clear();
  }

  // COST: what the eligible HyperNodes of the tiers up to the answer cost; nothing is left behind
  // when not ok.
  [[nodiscard]] Outcome Run(JobId job, Worksheet& worksheet, Pass pass);

  // One BestEffort task, somewhere below `domain`. It stays in the state when ok.
  [[nodiscard]] bool PlaceBestEffort(TaskId task, HyperNodeId domain);
  // Notes that the job (and the sub-job of the task), if topology binds them, now spans the node
  // that `task` found below `domain` as well.
  void Widen(TaskId task, HyperNodeId domain);

  // How many tasks of the request find a node one after the other, siblings and all, and what is in
  // the way of the last that does not. Leaves nothing behind, not in the trace either.
  struct Rehearsal {
    std::size_t placed = 0;
    Obstacles obstacles;
  };
  [[nodiscard]] Rehearsal Rehearse(PlaceRequest request);

  // Free slots for one class below a HyperNode, counted no further than `enough`.
  [[nodiscard]] std::uint64_t SlotsIn(ClassId class_id, HyperNodeId domain, std::uint64_t enough);

 private:
  // One level of the search: for a whole job, or for one of its sub-jobs.
  struct Level {
    JobId job;
    std::string sub_job;  // its name in the trace, "" for a whole job
    HyperNodeId within;
    HyperNodeId allocated;
    TopologyLimit limit;
    Resources need;
  };
  // Scores of the HyperNodes of one tier, by plugin and in total.
  struct TierScores {
    std::vector<HyperNodeId> hypernodes;
    std::map<std::string, std::vector<Score>> by_plugin;
    std::vector<Score> total;
  };
  // Where a sub-job ended up, and what that was worth.
  struct Found {
    HyperNodeId hypernode;
    std::map<std::string, Score> by_plugin;
    Score score = 0;
  };
  // What makes sub-jobs alike: how high they may go, whether they want to be near together, and the
  // classes of the tasks to be placed, in the order of the tasks, for they are placed in that
  // order.
  struct SubJobKind {
    std::int32_t tier = 0;
    bool wants_nearness = false;
    std::size_t tasks = 0;  // all of them, also those that are not to be placed
    std::vector<ClassId> classes;

    auto operator<=>(const SubJobKind&) const = default;
  };
  // How a sub-job was placed in a leaf: where the next finds one of the same kind, it goes the same
  // way.
  struct Pattern {
    std::size_t kind = 0;
    std::vector<std::size_t> positions;  // of the nodes in the leaf, task by task
  };
  struct Board {
    DomainBoard board;
    ClusterState::Savepoint seen = 0;  // changes before this one are in
    DomainKinds* kinds = nullptr;      // of leaves to them; null when that is not to be had
    std::optional<Pattern> pattern;    // the last
  };
  using Boards = std::map<SubJobKind, Board>;
  // A whole job placed below one HyperNode, taken back and ready to be done again.
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
    Found found;
    bool in_place = false;  // it was not taken back: there is nothing to compare it with
  };
  enum class Rivals : std::uint8_t { kNone, kSome };
  // Where one task took what another needed, the way was barred: the same tasks may find it open
  // when there is less room. Nothing else heals as more is placed.
  enum class Fit : std::uint8_t { kPlaced, kBarred, kNoRoom };

  [[nodiscard]] PlaceOutcome Place(const PlaceRequest& request);
  [[nodiscard]] bool MayHold(const PlaceRequest& request);
  [[nodiscard]] Gradient FindGradient(const Level& level);
  [[nodiscard]] TierScores ScoreTier(const SubJob& sub_job,
                                     const Worksheet::Sheet& sheet,
                                     const Resources& need,
                                     const std::vector<HyperNodeId>& hypernodes);
  // Candidates in the order of the answer.
  [[nodiscard]] std::vector<std::size_t> Ranking(const SubJob& sub_job,
                                                 const TierScores& scores) const;

  [[nodiscard]] Outcome RunFlat(JobId job, Worksheet& worksheet, Pass pass);
  [[nodiscard]] Outcome RunOneLevel(JobId job, Worksheet& worksheet, Pass pass);
  [[nodiscard]] Outcome RunTwoLevels(JobId job, Worksheet& worksheet, Pass pass);
  [[nodiscard]] std::optional<Found> FindSubJob(const Level& level,
                                                Worksheet::Sheet& sheet,
                                                Pass pass,
                                                Outcome& outcome);
  // Places what the sheet still misses below `hypernode`.
  [[nodiscard]] Fit TryIn(HyperNodeId hypernode,
                          const Level& level,
                          Worksheet::Sheet& sheet,
                          Pass pass,
                          Outcome& outcome);
  // True when it makes no difference which node takes which of the tasks.
  [[nodiscard]] bool AreInterchangeable(std::span<const TaskId> tasks) const;
  // The same as FindSubJob for a sub-job of which nothing is placed, with what is remembered of
  // those before it that were like it.
  [[nodiscard]] std::optional<Found> FindAlike(const Level& level,
                                               Worksheet::Sheet& sheet,
                                               Boards& boards,
                                               Outcome& outcome);
  [[nodiscard]] bool CanShareBoard(const Level& level,
                                   const Worksheet::Sheet& sheet,
                                   Pass pass) const;
  [[nodiscard]] Score ScoreOne(const SubJob& sub_job, const Resources& need, HyperNodeId id) const;
  // The same as TryIn for a sub-job that FindAlike looks after.
  [[nodiscard]] Fit TryAlike(HyperNodeId hypernode,
                             const Level& level,
                             Worksheet::Sheet& sheet,
                             Boards::value_type& alike,
                             Outcome& outcome);
  [[nodiscard]] bool Repeat(const Pattern& pattern,
                            HyperNodeId hypernode,
                            JobId job,
                            Worksheet::Sheet& sheet);
  // The kinds of HyperNodes for tasks of these classes, in any order; null when they are not enough
  // to say what the tasks find.
  [[nodiscard]] DomainKinds* KindsFor(JobId job, std::vector<ClassId> classes);
  // The same for all that is left of a job, nothing of which has a place yet.
  [[nodiscard]] DomainKinds* KindsFor(JobId job, const Worksheet& worksheet);
  [[nodiscard]] std::optional<Plan> PlanBelow(
      const Level& level, const Worksheet& worksheet, Pass pass, Rivals rivals, Outcome& outcome);
  void PlaceSubJobs(const Level& level, Pass pass, Plan& plan, Outcome& outcome);
  // The best place for the whole job in one tier.
  [[nodiscard]] std::optional<Plan> PlanInTier(const Level& level,
                                               const Gradient::Tier& tier,
                                               const Worksheet& worksheet,
                                               Pass pass,
                                               Outcome& outcome);
  void Adopt(JobId job, const Plan& plan, Worksheet& worksheet);
  void RememberHyperNode(JobId job, std::size_t sub_job, HyperNodeId hypernode);
  void RememberHyperNode(JobId job, HyperNodeId hypernode);

  void TraceGradient(const Level& level, const Gradient& gradient);
  void TraceScores(const Level& level,
                   const TierScores& scores,
                   const std::vector<std::size_t>& failed,
                   HyperNodeId chosen);
  void TraceDiscard(JobId job, HyperNodeId hypernode);

  Session& session_;
  ClusterIndex cluster_index_;
  std::map<std::vector<ClassId>, DomainKinds> domain_kinds_;  // by classes, ascending
};

}  // namespace strata
