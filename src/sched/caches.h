#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/class_view_cache.h"
#include "sched/cluster_index.h"
#include "sched/domain_kinds.h"
#include "sched/eviction/victim_book.h"
#include "sched/job_topologies.h"
#include "sched/lifecycle.h"
#include "sched/plugin_set.h"

namespace strata {

// Everything that a scheduler derives from state and plugins and keeps from cycle to cycle, because
// it is cheaper to follow changes than to derive it again. It never changes a decision: a scheduler
// with fresh caches decides the same (tests/property).
//
// Indexes and kinds are built on class views, so views are dropped here alone, together with them.
class Caches {
 public:
  // REQUIRES: both outlive it.
  Caches(ClusterState& state, const PluginSet& plugins);
  Caches(const Caches&) = delete;
  Caches& operator=(const Caches&) = delete;

  // Lets the state forget classes without tasks when there are many, and drops what is cached by
  // class when that renumbered the classes. REQUIRES: no cycle is open.
  void ForgetIdleClasses();
  // Drops what is cached by class when scores have another version (PluginSet::ScoresVersion).
  // REQUIRES: no cycle is open.
  void FollowScores(std::uint64_t version);
  // Drops what is cached by class when it exceeds the memory budget: no ClassView, DomainIndex,
  // ChainBoard or DomainKinds obtained before may be used again. To be called between two jobs.
  void Trim();

  [[nodiscard]] JobTopologies& topologies() { return topologies_; }
  [[nodiscard]] JobPhases& phases() { return phases_; }
  [[nodiscard]] ClassViewCache& views() { return views_; }
  [[nodiscard]] VictimBook& victims() { return victims_; }
  [[nodiscard]] ClusterIndex& cluster_index() { return cluster_index_; }
  // The kinds of HyperNodes for tasks of these classes. Valid until TrimKinds or Trim.
  // REQUIRES: `classes` are ascending, without duplicates, and DomainKinds::Suffice for them.
  [[nodiscard]] DomainKinds& KindsFor(const std::vector<ClassId>& classes);
  // Drops all kinds when they are those of too many sets of classes.
  void TrimKinds();

 private:
  void DropBuiltOnViews();

  ClusterState& state_;
  std::uint64_t scores_version_ = 0;
  JobTopologies topologies_;
  JobPhases phases_;
  ClassViewCache views_;
  ClusterIndex cluster_index_;
  VictimBook victims_;
  std::map<std::vector<ClassId>, DomainKinds> domain_kinds_;  // by classes
};

}  // namespace strata
