#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sched/cycle_result.h"

namespace strata::live {

// Decides which warnings of a cycle are new: one that stays from cycle to cycle is logged once, and
// again after it was away. A value without effects.
class WarningBook {
 public:
  using Warnings = std::vector<CycleResult::Warning>;

  // The warnings of a cycle that the cycle before did not have. `warnings` may be null: none.
  // COST: nothing while `warnings` is the same object as in the cycle before.
  [[nodiscard]] Warnings TakeNew(const std::shared_ptr<const Warnings>& warnings) {
    if (warnings == last_) return {};
    last_ = warnings;
    Warnings fresh;
    std::set<std::pair<std::string, std::string>> known;
    static const Warnings none;
    for (const CycleResult::Warning& warning : last_ ? *last_ : none) {
      const auto [key, is_new] = known.insert({warning.object, warning.message});
      if (is_new && !known_.contains(*key)) fresh.push_back(warning);
    }
    known_ = std::move(known);
    return fresh;
  }

 private:
  std::shared_ptr<const Warnings> last_;
  std::set<std::pair<std::string, std::string>> known_;  // object and message
};

}  // namespace strata::live
