#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/labels.h"
#include "model/selector.h"

namespace strata {

// A PodDisruptionBudget: how many of the pods that it selects may be missing on purpose.
struct BudgetSpec {
  // A number of pods, or a percentage of them.
  struct Amount {
    std::int32_t number = 0;
    bool percent = false;

    // In pods; what a percentage leaves over counts as one more.
    [[nodiscard]] std::int64_t Of(std::int64_t pods) const;
    bool operator==(const Amount&) const = default;
  };

  std::string name;                       // "namespace/budget"
  std::optional<LabelSelector> selector;  // none: no pod; empty: every pod of the namespace
  std::optional<Amount> min_available;    // at most one of both
  std::optional<Amount> max_unavailable;
  std::optional<std::int32_t> allowed;  // what its status says; none when it has none
  std::vector<std::string> disrupted;   // "namespace/pod": counted in `allowed` already; sorted

  // How many of `expected` pods have to be healthy.
  [[nodiscard]] std::int64_t Desired(std::int64_t expected) const;
  bool operator==(const BudgetSpec&) const = default;
};

// The PodDisruptionBudgets of all namespaces, and which pods each of them selects.
//
// Pods that the same budgets select are one group. A group is a small number that is never given to
// other budgets, 0 for pods that no budget selects.
class BudgetTable {
 public:
  using Group = std::uint32_t;

  // True when other pods are selected than before, so that their groups are to be asked for again.
  bool Upsert(BudgetSpec spec);
  bool Remove(std::string_view name);

  // The group of a pod with these labels.
  [[nodiscard]] Group GroupOf(std::string_view ns, const Labels& labels);
  // The budgets of a group, by name; those that were removed are left out.
  [[nodiscard]] std::vector<const BudgetSpec*> In(Group group) const;
  // Every group that is in use, or was: they are the numbers below this.
  [[nodiscard]] Group groups() const { return static_cast<Group>(groups_.size()); }

  // A pod of the group is evicted: its budgets allow one less, until their status says something
  // new.
  void Charge(Group group);
  // What the status of the budget allows less what was charged since; none without a status.
  [[nodiscard]] std::optional<std::int64_t> AllowedBy(const BudgetSpec& budget) const;

  // Another number whenever a budget may allow something else than before, by what came from
  // outside.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  [[nodiscard]] const std::map<std::string, BudgetSpec, std::less<>>& all() const {
    return budgets_;
  }

 private:
  std::map<std::string, BudgetSpec, std::less<>> budgets_;
  std::map<std::string, std::int64_t, std::less<>> charged_;  // by budget
  std::vector<std::vector<std::string>> groups_ = {{}};       // names of budgets, sorted
  std::map<std::vector<std::string>, Group> known_ = {{{}, 0}};
  std::uint64_t version_ = 0;
};

}  // namespace strata
