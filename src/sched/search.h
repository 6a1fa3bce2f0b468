#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ids.h"
#include "sched/gang_search.h"
#include "sched/level_search.h"
#include "sched/obstacles.h"
#include "sched/place_request.h"
#include "sched/session.h"
#include "sched/worksheet.h"

namespace strata {

// Finds the place of a job: the HyperNode of the lowest allowed tier that holds its whole gang, and
// in that tier the one with the best score, then with the most tasks of the job, then with the
// lower name. A job without a topology is placed anywhere in the cluster (one trial); a job with
// one is searched on one level (LevelSearch); a job with sub-groups on two (TwoLevelSearch). Where
// that finds nothing in a tier, and the configuration allows it, SecondSearch looks again. Then the
// tasks follow the tree by rank (ring.h), if the configuration says so.
//
// This is what actions use. Lives for one cycle, like its session.
class Search {
 public:
  using Outcome = SearchOutcome;

  explicit Search(Session& session);

  // When not ok, the state is as before. COST: that of the eligible HyperNodes in the tiers up to
  // the answer.
  [[nodiscard]] Outcome Run(JobId job, Worksheet& worksheet, Pass pass) {
    return RunBelow(session_.tree().top(), job, worksheet, pass);
  }
  // The same at or below one HyperNode.
  [[nodiscard]] Outcome RunBelow(HyperNodeId within, JobId job, Worksheet& worksheet, Pass pass);

  // Places one BestEffort task somewhere below `domain`. True when it is placed.
  [[nodiscard]] bool PlaceBestEffort(TaskId task, HyperNodeId domain);
  // Extends the allocated HyperNodes of the task's job and sub-job, if topology binds them, by the
  // node that a BestEffort task got below `domain`.
  void ExtendAllocatedBy(TaskId task, HyperNodeId domain);

  // Places the tasks of the request one after the other and rolls everything back; records no
  // trace.
  struct Rehearsal {
    std::size_t placed = 0;
    Obstacles obstacles;  // of the last task that found no node
  };
  [[nodiscard]] Rehearsal Rehearse(PlaceRequest request);

  // Free slots for one class below a HyperNode, counted no further than `enough`.
  [[nodiscard]] std::uint64_t SlotsIn(ClassId class_id, HyperNodeId domain, std::uint64_t enough) {
    return level_search_.SlotsIn(class_id, domain, enough);
  }

 private:
  // What one search is about.
  struct Errand {
    HyperNodeId within;
    JobId job;
    Pass pass = Pass::kReady;
    SecondSearch* second = nullptr;
  };
  [[nodiscard]] Outcome RunFlat(const Errand& errand, Worksheet& worksheet);
  [[nodiscard]] Outcome RunOneLevel(const Errand& errand, Worksheet& worksheet);

  Session& session_;
  GangSearchSettings settings_;
  LevelSearch level_search_;
};

}  // namespace strata
