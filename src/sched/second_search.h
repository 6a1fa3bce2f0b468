#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sched/gang_search.h"
#include "sched/level_search.h"
#include "sched/packing.h"
#include "sched/session.h"
#include "sched/worksheet.h"

namespace strata {

// Looks again for a gang in a HyperNode where the greedy search, which never takes a pod back,
// found no place: pods of different kinds may have taken each other's room, and a sub-group the
// HyperNode that another one needs. Knows of idle resources and of what filters say of each node
// now; what it finds is placed only if every pod can really go there.
//
// Lives for one job and one pass. All its calls together have one budget.
class SecondSearch {
 public:
  SecondSearch(Session& session, std::uint64_t budget)
      : session_(session), limit_(budget), budget_(budget) {}

  // Whether it may find what the greedy search misses: that is exact for equal pods in no
  // sub-groups. Remembers its answer.
  [[nodiscard]] bool MayHelp(const Worksheet::Sheet& sheet);
  // Places what the gang needs of the tasks of the sheet, and advances it. False, with everything
  // as before, when there is no place, or the budget is used up.
  [[nodiscard]] bool PlaceFlat(JobId job, HyperNodeId hypernode, Worksheet::Sheet& sheet);
  // The same for a job with sub-groups of which nothing is placed. Sets their HyperNodes.
  [[nodiscard]] bool PlaceParts(JobId job, HyperNodeId hypernode, Worksheet& worksheet);

  // The budget, if it was not enough.
  [[nodiscard]] std::optional<std::uint64_t> CutAt() const {
    return budget_.cut() ? std::optional(limit_) : std::nullopt;
  }
  // The refusal of the queue's quota, if there was one. It then finds nothing any more.
  [[nodiscard]] const std::optional<Refusal>& quota() const { return quota_; }

 private:
  // A class by when its first task was seen: ids of classes depend on the order in which objects
  // came, and no decision may.
  using ClassNumber = std::uint32_t;
  // Tasks that stay below one HyperNode.
  struct Part {
    std::size_t order = 0;  // among the sub-jobs of the job
    std::size_t sub_job = 0;
    std::vector<TaskId> tasks;
    std::map<ClassNumber, std::uint32_t> counts;
    std::vector<HyperNodeId> choices;  // where it may go, the order in which they are tried
    HyperNodeId at;                    // none: left out
    bool bounded = false;
    bool counts_for_policy = false;  // it is not ready yet, and leaving it out costs a sub-group
  };
  using Parts = std::vector<Part>;
  // Pods of one class that may go to the nodes of one HyperNode.
  using Kind = std::pair<HyperNodeId, ClassNumber>;
  using Wanted = std::map<Kind, std::uint32_t>;
  // By kind the nodes of its pods, in the order of the tree.
  using Places = std::map<Kind, std::vector<NodeId>>;

  [[nodiscard]] ClassNumber NumberOf(TaskId task);
  [[nodiscard]] ClassView& ViewOf(ClassNumber number) {
    return session_.views().Of(classes_[number]);
  }
  [[nodiscard]] Parts PartsOf(const Job& job, HyperNodeId hypernode, const Worksheet& worksheet);
  [[nodiscard]] std::vector<HyperNodeId> ChoicesFor(HyperNodeId below, std::int32_t tier) const;
  // How many parts may be left out: of the policies, and of the pods.
  struct Spare {
    std::vector<std::int64_t> parts;
    std::int64_t pods = 0;
  };
  [[nodiscard]] static Spare SpareOf(const Job& job, const Parts& parts);
  // Chooses HyperNodes for the parts from `next` on.
  [[nodiscard]] bool Assign(HyperNodeId within, Parts& parts, std::size_t next, Spare& spare);
  [[nodiscard]] bool TryChoices(HyperNodeId within, Parts& parts, std::size_t next, Spare& spare);
  // True when every part that is bounded may go to the same HyperNodes.
  [[nodiscard]] static bool AreOnOneLevel(const Parts& parts);
  [[nodiscard]] std::size_t KindOf(HyperNodeId hypernode, const Parts& parts);
  // What the first `count` parts place below the HyperNode.
  [[nodiscard]] static Wanted WantedOf(const Session& session,
                                       const Parts& parts,
                                       std::size_t count,
                                       HyperNodeId below);
  // Whether the pods have places below the HyperNode. Remembers its answers.
  [[nodiscard]] bool Fits(HyperNodeId below, const Wanted& wanted);
  [[nodiscard]] std::optional<Places> Pack(HyperNodeId below, const Wanted& wanted);
  [[nodiscard]] PackingProblem ProblemOf(std::span<const NodeId> nodes, const Wanted& wanted);
  [[nodiscard]] bool PlaceAll(std::span<const TaskId> tasks, HyperNodeId at, Places& places);
  // REQUIRES: found_.
  [[nodiscard]] bool Commit(JobId job, HyperNodeId hypernode, const Parts& parts);

  Session& session_;
  std::uint64_t limit_;
  StepBudget budget_;
  std::optional<Refusal> quota_;
  std::optional<bool> may_help_;
  std::vector<ClassId> classes_;  // by number
  std::map<ClassId, ClassNumber> numbers_;
  std::map<std::pair<HyperNodeId, Wanted>, bool> known_;
  std::optional<Places> found_;  // of PlaceParts
  // HyperNodes with the same on their nodes are of one kind; of one call of PlaceParts.
  std::map<HyperNodeId, std::size_t> kind_of_;
  std::map<std::vector<PackingProblem::Node>, std::size_t> kinds_;
};

}  // namespace strata
