#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/extension.h"
#include "sched/node_watch.h"

namespace strata {

// What must change so that a job which found no place may find one.
struct Needs {
  std::vector<ClassId> classes;  // of the tasks without a place, each once
  // Nothing but more room for one of the classes helps: which node takes which task makes no
  // difference. Otherwise a change that takes room away may help, too: nodes get other scores then,
  // and the tasks are spread otherwise.
  bool only_room = false;
  bool anything = false;           // a quota refused it, or a filter that looks beyond the node
  bool sums = false;               // a HyperNode must have more idle in all than its tasks ask for
  bool departures = false;         // pods that go may help on nodes where they were not
  bool peers = false;              // pods that come may help: affinity, spread
  std::optional<Time> until = {};  // from then on it may have a place although nothing has changed
};

// Remembers which jobs were tried and found no place, with their verdicts, and which of them may
// find one now. And where a cycle stopped: which jobs of a queue have had their turn since all of
// them had one, the round of the queue.
//
// Lives as long as the scheduler. REQUIRES: what changes between Close and Open comes from outside.
class Attempts {
 public:
  enum class Action : std::uint8_t {
    kAllocate,
    kBackfill,
    kPreempt,
    kReclaim,
    kGangPreempt,
    kGangReclaim
  };
  // Whether something changed since the job was tried. kPerhaps: nothing that it needs, but it may
  // be lucky, or the configuration depends on time.
  enum class Wake : std::uint8_t { kNo, kPerhaps, kYes };

  struct Attempt {
    std::optional<Refusal> verdict;  // none: about a job that has changed since
    Wake wake = Wake::kNo;
    Needs needs;
    bool holds = false;       // it held places itself until the end of the cycle
    std::size_t held = 0;     // tasks whose places were held when the job was tried
    std::uint64_t round = 0;  // of its queue, when the job was tried
    std::uint64_t cycle = 0;  // in which it was tried
    Time time{};              // of that cycle

    // Nothing that came from outside wakes the job.
    [[nodiscard]] bool IsQuiet() const { return verdict && wake == Wake::kNo; }
    // What its cycle does before its turn may wake it.
    [[nodiscard]] bool DependsOnTurn() const { return held > 0 || needs.peers; }
  };

  // REQUIRES: both outlive it.
  Attempts(const ClusterState& state, ClassViewCache& views)
      : state_(state), watch_(state, views) {}
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;

  // A cycle begins or has ended. COST: nothing in proportion to the jobs while nothing changes.
  void Open(Time now, bool depends_on_time);
  void Close();

  // ---- inside a cycle
  // Null when the job was not tried yet.
  [[nodiscard]] const Attempt* Find(Action action, JobId job) const;
  // At the turn of the job: true when its verdict still holds, because nothing has come from
  // outside that it needs, at least the same is held as when it was tried, and no pod was bound in
  // this cycle that it wants to be near to.
  [[nodiscard]] bool IsAsleep(const Attempt& attempt) const;
  void Failed(Action action, JobId job, Refusal verdict, Needs needs);
  // Tasks of the job were bound: it is another job from now on.
  void Bound(JobId job, std::span<const TaskId> tasks);
  // To be called after every turn: follows what is held for the rest of the cycle. A job that holds
  // places is tried in every cycle, whatever the budget, or others could take these places.
  void FollowHeld(Action action, JobId job);
  // The same about what is held before the first turn: by claims.
  void FollowHeld();
  // A task was evicted from this node.
  void Evicted(NodeId node) { watch_.Evicted(node); }
  // The job is to be tried as if it were new.
  void Forget(JobId job);
  // When a job may have a place although nothing has changed.
  [[nodiscard]] std::optional<Time> NextTime() const { return next_time_; }

  // ---- rounds
  [[nodiscard]] bool IsBehind(QueueId queue) const { return behind_.contains(queue); }
  [[nodiscard]] bool HadTurn(const Attempt& attempt, QueueId queue) const;
  // The budget of the cycle ended before a job of the queue that had no turn in this round.
  void LeaveBehind(QueueId queue) { left_.insert(queue); }

 private:
  using Key = std::pair<JobId, Action>;
  using Held = std::tuple<JobId, TaskId, NodeId>;

  void Follow(JobId changed);
  void WakeAll();
  [[nodiscard]] Wake WakeOf(const Needs& needs);
  [[nodiscard]] std::uint64_t RoundOf(QueueId queue) const;
  // Behind all that is remembered of the job.
  [[nodiscard]] std::map<Key, Attempt>::iterator EndOf(JobId job);
  // Wakes the job if its time has come.
  void FollowTime(Attempt& attempt);
  void NoteTime(Time time);

  const ClusterState& state_;
  NodeWatch watch_;
  std::map<Key, Attempt> attempts_;
  std::optional<Time> next_time_;  // no Needs::until of an attempt is before it
  std::uint64_t cycle_ = 0;
  Time now_{};
  std::uint64_t jobs_version_ = 0;  // these as of Close
  std::uint64_t queues_version_ = 0;
  std::uint64_t quotas_version_ = 0;
  std::uint64_t budgets_version_ = 0;
  std::uint64_t class_epoch_ = 0;

  std::vector<Held> last_held_;  // in the previous cycle, up to the first job that changed since
  std::vector<Held> held_;       // in this cycle so far
  std::size_t same_held_ = 0;    // how many of them are as in the previous cycle
  bool held_before_ = false;     // something was held in the previous cycle

  std::map<QueueId, std::uint64_t> rounds_;  // of queues that were behind at least once
  std::set<QueueId> behind_;                 // with jobs that this round did not come to
  std::set<QueueId> left_;                   // the same, of the cycle under way
};

}  // namespace strata
