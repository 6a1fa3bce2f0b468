#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/eviction/cost.h"

namespace strata {

// Every job that runs, with what eviction asks about it again and again, by queue and priority.
// Kept from cycle to cycle: only jobs that changed are looked at again.
//
// COST: nothing, no memory either, before the first Refresh.
class VictimBook {
  __extension__ using Wide = __int128;

 public:
  // Pods of a job on nodes of one chain.
  struct Footprint {
    ChainId chain;
    std::uint32_t pods = 0;
  };
  struct Entry {
    QueueId queue;
    std::int32_t priority = 0;
    std::uint32_t place = 0;          // on its shelf
    std::vector<TaskId> pods;         // that run, the first to go first
    std::vector<Footprint> where;     // of the pods, ascending by chain
    ClassId class_id;                 // of all the pods; none when they are of several
    bool unprotected = false;         // neither the job nor a pod says that it must stay
    bool in_flight = false;           // a pod of it is being placed
    bool has_gang = false;            // without a minimum there is none to break: all is surplus
    bool may_have_spare = false;      // a pod may be more than its gang needs
    Disruption::Moment runs_since{};  // the first of the pods; the epoch when that is not known
    Time open_from{};  // then no pod is in its cooldown, nor the job in its first time

    // Sums over all pods whose start or last checkpoint is known, so that the work that the job
    // would lose need not be added up again.
    Wide devices = 0;           // thousandths
    Wide devices_by_start = 0;  // x seconds since the epoch
    Disruption::Moment last_start{};
    std::int32_t grace_seconds = 0;
  };
  // The jobs of one queue and priority.
  struct Shelf {
    std::vector<JobId> jobs;  // in no particular order
    std::size_t pods = 0;     // of all of them
    std::size_t protected_jobs = 0;
    Time open_from{};  // then they all are, or before

    // True when no pod of them must stay, by what pods and jobs say.
    [[nodiscard]] bool IsOpen(Time now) const { return protected_jobs == 0 && open_from <= now; }
  };
  // COST: O(pods of jobs that changed since the last call), O(pods) for the first, and after the
  // tree changed.
  void Refresh(const ClusterState& state);

  [[nodiscard]] const std::map<std::pair<QueueId, std::int32_t>, Shelf>& shelves() const {
    return shelves_;
  }
  [[nodiscard]] const Entry& at(JobId job) const { return entries_[job.index()]; }
  [[nodiscard]] std::size_t PodsOf(JobId job) const {
    return job.index() < entries_.size() ? entries_[job.index()].pods.size() : 0;
  }
  // The first moment after `now` at which a pod may be evicted because of its age alone; none when
  // every pod is old enough. COST: O(jobs of shelves with a young job, and pods of young jobs).
  [[nodiscard]] std::optional<Time> NextOpening(const WorkloadTable& workload, Time now) const;
  // What all pods of the job cost together.
  [[nodiscard]] UnitPrice PriceOfAll(const ClusterState& state, JobId job, Time now) const;

 private:
  void Replace(const ClusterState& state, JobId job);
  void TakeOff(JobId job);
  [[nodiscard]] static Entry Look(const ClusterState& state, const Job& job);

  std::uint64_t seen_ = 0;  // changes of jobs before this one are in
  std::uint64_t tree_version_ = 0;
  std::uint64_t class_epoch_ = 0;
  std::vector<Entry> entries_;  // by job; without pods: not on a shelf
  std::map<std::pair<QueueId, std::int32_t>, Shelf> shelves_;
};

}  // namespace strata
