#include "model/budget_table.h"

#include <algorithm>
#include <utility>

namespace strata {

std::int64_t BudgetSpec::Amount::Of(std::int64_t pods) const {
  return percent ? (pods * number + 99) / 100 : number;
}

std::int64_t BudgetSpec::Desired(std::int64_t expected) const {
  if (max_unavailable) return std::max<std::int64_t>(expected - max_unavailable->Of(expected), 0);
  return min_available ? min_available->Of(expected) : 0;
}

bool BudgetTable::Upsert(BudgetSpec spec) {
  BudgetSpec& known = budgets_[spec.name];
  const bool is_new = known.name.empty();
  const bool selects_others = is_new || known.selector != spec.selector;
  if (is_new || known.allowed != spec.allowed || known.disrupted != spec.disrupted) {
    charged_.erase(spec.name);
  }
  if (known != spec) ++version_;
  known = std::move(spec);
  return selects_others;
}

bool BudgetTable::Remove(std::string_view name) {
  const auto it = budgets_.find(name);
  if (it == budgets_.end()) return false;
  if (const auto charged = charged_.find(name); charged != charged_.end()) charged_.erase(charged);
  budgets_.erase(it);
  ++version_;
  return true;
}

BudgetTable::Group BudgetTable::GroupOf(std::string_view ns, const Labels& labels) {
  const std::string prefix = std::string(ns) + "/";
  std::vector<std::string> names;
  for (auto it = budgets_.lower_bound(prefix); it != budgets_.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    if (it->second.selector && it->second.selector->Matches(labels)) names.push_back(it->first);
  }
  const auto [it, is_new] = known_.emplace(names, groups());
  if (is_new) groups_.push_back(std::move(names));
  return it->second;
}

std::vector<const BudgetSpec*> BudgetTable::In(Group group) const {
  std::vector<const BudgetSpec*> budgets;
  for (const std::string& name : groups_[group]) {
    if (const auto it = budgets_.find(name); it != budgets_.end()) budgets.push_back(&it->second);
  }
  return budgets;
}

void BudgetTable::Charge(Group group) {
  for (const std::string& name : groups_[group]) ++charged_[name];
}

std::optional<std::int64_t> BudgetTable::AllowedBy(const BudgetSpec& budget) const {
  if (!budget.allowed) return std::nullopt;
  const auto it = charged_.find(budget.name);
  return *budget.allowed - (it == charged_.end() ? 0 : it->second);
}

}  // namespace strata
