#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explain/relaxations.h"
#include "sched/extension.h"

namespace strata {

// What would let each waiting job start, kept for as long as its verdict stays what it was.
//
// Relaxations cost some tens of simulated runs, so no cycle works them out. After each cycle its
// verdicts are followed; between cycles the caller takes a job that is due, asks
// FindRelaxations and keeps the answer. An answer that comes too late, because a cycle has changed
// the verdict meanwhile, is dropped: nothing found here was ever found for another verdict.
//
// A value: no thread, no clock; the same calls give the same answers. Not for use by several
// threads at once.
class KeptRelaxations {
 public:
  using Verdicts = std::map<std::string, Refusal>;  // by "ns/podgroup", of the jobs that wait

  // After a cycle. A job whose verdict is new or differs in word or sentence becomes due, and what
  // was known for it is dropped; a job that no longer waits is forgotten.
  // COST: one comparison per waiting job.
  void Follow(const Verdicts& verdicts);

  // The jobs without an answer, the one that has been due for the longest first, those of one cycle
  // by name. A job keeps its place when its verdict changes again, so one whose sentence is new in
  // every cycle is neither starved nor starves others.
  [[nodiscard]] std::vector<std::string> Due() const;

  // The verdict of the job as last followed; none if it does not wait.
  [[nodiscard]] const Refusal* VerdictOf(const std::string& job) const;

  // Notes what was found for `verdict`, unless that is not the job's verdict (any more).
  void Keep(const std::string& job, const Refusal& verdict, RelaxationReport report);

  // What was kept for this verdict of the job; none if nothing was.
  [[nodiscard]] const RelaxationReport* Find(const std::string& job, const Refusal& verdict) const;

 private:
  struct Entry {
    Refusal verdict;
    std::uint64_t due_since = 0;  // the count of Follow that made it so
    std::optional<RelaxationReport> report;
  };

  std::map<std::string, Entry> jobs_;
  std::uint64_t followed_ = 0;
};

}  // namespace strata
