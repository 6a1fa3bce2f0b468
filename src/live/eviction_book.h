#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/pacing.h"
#include "live/eviction_order.h"
#include "live/retry_times.h"
#include "net/transport.h"

namespace strata::live {

// One write that a plan needs.
struct EvictionStep {
  enum class Kind : std::uint8_t {
    kTryOut,    // asks a budget, and changes nothing
    kNominate,  // tells a pod of the claimant its node
    kMark,      // conditions of a victim
    kDelete,    // a victim goes
    kEvict,     // the same, if its budget agrees
    kUnmark,    // takes kMark back
    kClear,     // takes kNominate back
  };
  Kind kind = Kind::kDelete;
  std::uint64_t plan = 0;  // 0: of no plan
  kube::PodName pod;
  std::string node;  // of kNominate

  [[nodiscard]] std::string Key() const;
};

enum class StepAnswer : std::uint8_t {
  kDone,
  kGone,     // there is no such pod any more
  kRefused,  // by a budget, or for good
  kNone,     // to be tried again
};

// Decides in which order a plan is carried out, and what follows from each answer. A value without
// effects: time is an argument, chance is injected.
//
// First budgets are asked, and if one refuses the plan is dropped. Then all nominations are
// written, then the conditions of all victims, and only then the victims are deleted. So a
// scheduler that finds a victim gone or going finds all others marked, and can go on: a plan that
// has taken somebody is never left half done, not even by the death of the scheduler. Until the
// first deletion a plan can be cancelled.
class EvictionBook {
 public:
  struct Outcome {
    enum class Kind : std::uint8_t {
      kGone,       // every victim is on its way out
      kDropped,    // nobody went
      kCancelled,  // the same, by Cancel
    } kind = Kind::kGone;
    EvictionOrder order;
    std::string why;  // nobody went
  };
  using Steps = std::vector<EvictionStep>;

  explicit EvictionBook(kube::Random random) : retries_(std::move(random)) {}

  // The steps to take now, as all other functions that return steps. REQUIRES: the job has no plan
  // that could be cancelled.
  [[nodiscard]] Steps Begin(EvictionOrder order);
  // A plan that was begun by another process: from the conditions on.
  [[nodiscard]] Steps GoOn(EvictionOrder order);
  [[nodiscard]] Steps Take(const EvictionStep& step, StepAnswer answer, net::SteadyTime now);
  // Drops the plan of the job, if there is one of which nobody has gone. True when it did.
  bool Cancel(const std::string& job, const std::string& why, Steps& steps);
  // Takes nominations back.
  [[nodiscard]] static Steps Clear(const std::vector<kube::PodName>& pods);

  [[nodiscard]] Steps TakeDue(net::SteadyTime now);
  [[nodiscard]] std::optional<net::SteadyTime> NextDue() const;
  [[nodiscard]] std::vector<Outcome> TakeOutcomes() { return std::exchange(outcomes_, {}); }
  // The order of a plan under way; null when it is not.
  [[nodiscard]] const EvictionOrder* Find(std::uint64_t plan) const {
    const auto it = plans_.find(plan);
    return it == plans_.end() ? nullptr : &it->second.order;
  }
  // The order that Cancel would drop; null without one.
  [[nodiscard]] const EvictionOrder* FindCancellable(const std::string& job) const;
  // True when pods are still to go for the job.
  [[nodiscard]] bool IsBusyFor(const std::string& job) const;

 private:
  enum class Phase : std::uint8_t { kTryOut, kNominate, kMark, kDelete };
  struct Plan {
    EvictionOrder order;
    Phase phase = Phase::kTryOut;
    std::set<std::string> open;  // keys of steps without an answer
  };

  [[nodiscard]] Steps Enter(std::uint64_t id, Phase phase);
  // The steps of the first phase that has any, from this one on; the end without one.
  [[nodiscard]] Steps Advance(std::uint64_t id, Phase phase);
  // True when a plan that lives wants what the step takes back.
  [[nodiscard]] bool IsWanted(const EvictionStep& step) const;
  [[nodiscard]] Steps Start(EvictionOrder order, Phase phase);
  [[nodiscard]] Steps Drop(std::uint64_t id, Outcome::Kind kind, std::string why);
  void Retry(const EvictionStep& step, net::SteadyTime now);

  RetryTimes retries_;
  std::map<std::uint64_t, Plan> plans_;
  std::uint64_t last_plan_ = 0;
  std::multimap<net::SteadyTime, EvictionStep> later_;
  std::vector<Outcome> outcomes_;
};

}  // namespace strata::live
