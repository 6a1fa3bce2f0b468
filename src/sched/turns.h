#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include "base/ids.h"
#include "sched/attempts.h"
#include "sched/session.h"
#include "sched/work_meter.h"
#include "sched/worksheet.h"

namespace strata {

// Decides for one action of one cycle which jobs get a turn: not those whose verdict still holds
// (Attempts), and not those that the budget of the cycle does not reach (WorkMeter). Jobs without a
// turn keep the verdict that they have. Whatever the budget, incomplete gangs get their turn, jobs
// that held places in the previous cycle, and the first job of each queue and account.
//
// Every job gets its turns where the scheduler works without a budget, as in `strata simulate`.
class Turns {
 public:
  // REQUIRES: `session` outlives it.
  Turns(Session& session, Attempts::Action action) : session_(session), action_(action) {}

  enum class Plan : std::uint8_t {
    kTry,        // offer the job its turn
    kAskAtTurn,  // its verdict holds so far; Begin says at its turn whether it still does
    kSkip        // its verdict holds
  };
  // To be asked about every job before the first turn. Gives the verdict to those whose verdict
  // holds.
  [[nodiscard]] Plan PlanFor(JobId job);
  // The job will be offered a turn. To be called for all of them before the first turn.
  // REQUIRES: PlanFor is kTry, and the job has a queue.
  void Expect(JobId job);
  // At the turn of the job: true when it is to be tried now. Then Failed follows if it found no
  // place, and End in any case.
  [[nodiscard]] bool Begin(JobId job);
  void Failed(JobId job, const Refusal& verdict, const std::function<Needs()>& needs);
  void End(JobId job);

 private:
  [[nodiscard]] WorkMeter::Account AccountOf(JobId job) const;
  void LeaveOut(JobId job, WorkMeter::Account account);

  Session& session_;
  const Attempts::Action action_;
  std::set<std::pair<QueueId, WorkMeter::Account>> served_;  // those that had a turn
  WorkMeter::Account account_ = WorkMeter::Account::kFirst;  // of the turn under way
};

// What a gang that found no place needs. `quota`: a quota refused at least one of its tasks.
[[nodiscard]] Needs NeedsOf(Session& session, JobId job, const Worksheet& worksheet, bool quota);
// The same for BestEffort tasks, each of which is placed on its own.
[[nodiscard]] Needs NeedsOf(Session& session, std::span<const TaskId> best_effort);

}  // namespace strata
