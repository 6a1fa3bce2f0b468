#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "sched/domain_board.h"
#include "sched/domain_kinds.h"
#include "sched/level_search.h"
#include "sched/session.h"
#include "sched/worksheet.h"

namespace strata {

// Finds the same place for a sub-job as LevelSearch::Find does, with what is known from the
// sub-jobs of the same job before it that ask for the same. A job has hundreds of them: between two
// of them few HyperNodes change (DomainBoard), and in a leaf of the same kind the tasks go to the
// same positions (DomainKinds).
//
// Lives while the sub-jobs of one job are placed below one HyperNode.
class SimilarSubJobs {
 public:
  SimilarSubJobs(Session& session, LevelSearch& search) : session_(session), search_(search) {}

  // True when it may be used for this sub-job: nothing of it is placed, all of it is to be placed,
  // and scores of HyperNodes do not depend on each other.
  [[nodiscard]] bool Serves(const SearchLevel& level,
                            const Worksheet::Sheet& sheet,
                            Pass pass) const;
  // REQUIRES: Serves, and the state changed since the previous call only by placements.
  [[nodiscard]] std::optional<FoundPlace> Find(const SearchLevel& level,
                                               Worksheet::Sheet& sheet,
                                               SearchOutcome& outcome);

 private:
  // Sub-jobs with the same key are looked for in the same HyperNodes.
  struct Key {
    std::int32_t tier = 0;  // the highest allowed
    bool wants_nearness = false;
    std::size_t tasks = 0;         // of the sub-job, also those that are not to be placed
    std::vector<ClassId> classes;  // of the tasks to be placed, in the order they are placed

    auto operator<=>(const Key&) const = default;
  };
  // How a sub-job was placed in a leaf of one kind.
  struct Pattern {
    std::size_t kind = 0;
    std::vector<std::size_t> positions;  // of the nodes in the leaf, task by task
  };
  struct Known {
    DomainBoard board;
    Journal::Savepoint seen = 0;     // placements before this one are included
    DomainKinds* kinds = nullptr;    // null when kinds say too little about these tasks
    std::optional<Pattern> pattern;  // of the last sub-job placed in a leaf
  };
  using AllKnown = std::map<Key, Known>;

  [[nodiscard]] AllKnown::value_type& KnownFor(const SearchLevel& level,
                                               const SubJob& sub_job,
                                               const Worksheet::Sheet& sheet);
  [[nodiscard]] Score ScoreOne(const SubJob& sub_job, const Resources& need, HyperNodeId id) const;
  // The same as LevelSearch::TryIn.
  [[nodiscard]] Fit TryIn(HyperNodeId hypernode,
                          const SearchLevel& level,
                          Worksheet::Sheet& sheet,
                          AllKnown::value_type& known,
                          SearchOutcome& outcome);
  [[nodiscard]] bool Repeat(const Pattern& pattern,
                            HyperNodeId hypernode,
                            JobId job,
                            Worksheet::Sheet& sheet);

  Session& session_;
  LevelSearch& search_;
  AllKnown known_;
};

// The classes of the tasks, in their order, with duplicates.
[[nodiscard]] std::vector<ClassId> ClassesOf(const ClusterState& state,
                                             std::span<const TaskId> tasks);
[[nodiscard]] std::vector<ClassId> WithoutDuplicates(std::vector<ClassId> classes);
// The kinds of HyperNodes for tasks of the job with these classes; null when kinds say too little
// about what the tasks find.
[[nodiscard]] DomainKinds* KindsFor(Session& session, JobId job, std::vector<ClassId> classes);
// False when the kind of the HyperNode costs more than it saves: it looks at every node, and few
// pods are to be placed.
[[nodiscard]] bool IsKindWorthItsCost(const HyperNodeTree& tree,
                                      HyperNodeId hypernode,
                                      std::size_t pods);

}  // namespace strata
