#include "sched/plugins/pdb.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "sched/plugins/argument_rules.h"
#include "sched/victim_point.h"

namespace strata {
namespace {

class Pdb final : public Plugin, public VictimPoint {
 public:
  void Open(const ClusterState& state, Time now) override;

  [[nodiscard]] std::string_view Protects(const Task& task) const override {
    const TaskId none;
    return MayGo(std::span(&none, 0), &task) ? "" : "that a disruption budget protects";
  }
  [[nodiscard]] bool SparesUnit(const VictimUnit& unit) const override {
    return !MayGo(unit.tasks, nullptr);
  }

 private:
  // What one budget allows in this cycle.
  struct Budget {
    const BudgetSpec* spec = nullptr;
    std::vector<BudgetTable::Group> groups;  // of its pods
    std::int64_t allowed = 0;                // at the beginning of the cycle, by its status
    std::int64_t releasing = 0;              // then
    std::int64_t desired = 0;                // without a status: so many have to be healthy
  };

  [[nodiscard]] WorkloadTable::BudgetCounts CountsOf(const Budget& budget) const;
  // How many of its pods may still go.
  [[nodiscard]] std::int64_t Left(const Budget& budget) const;
  // True when these may go together, or this one alone.
  [[nodiscard]] bool MayGo(std::span<const TaskId> tasks, const Task* alone) const;

  const ClusterState* state_ = nullptr;
  std::vector<Budget> budgets_;
  std::vector<std::vector<std::size_t>> in_group_;  // by group, indexes of budgets_
};

void Pdb::Open(const ClusterState& state, Time /*now*/) {
  state_ = &state;
  const BudgetTable& table = state.budgets();
  budgets_.clear();
  in_group_.assign(table.groups(), {});
  std::map<const BudgetSpec*, std::size_t> index;
  for (BudgetTable::Group group = 1; group < table.groups(); ++group) {
    for (const BudgetSpec* spec : table.In(group)) {
      const auto [it, is_new] = index.emplace(spec, budgets_.size());
      if (is_new) budgets_.emplace_back().spec = spec;
      budgets_[it->second].groups.push_back(group);
      in_group_[group].push_back(it->second);
    }
  }
  for (Budget& budget : budgets_) {
    const auto counts = CountsOf(budget);
    budget.allowed = table.AllowedBy(*budget.spec).value_or(0);
    budget.releasing = counts.releasing;
    budget.desired = budget.spec->Desired(counts.expected);
  }
}

WorkloadTable::BudgetCounts Pdb::CountsOf(const Budget& budget) const {
  WorkloadTable::BudgetCounts sum;
  for (const BudgetTable::Group group : budget.groups) {
    const auto counts = state_->workload().InBudgetGroup(group);
    sum.expected += counts.expected;
    sum.healthy += counts.healthy;
    sum.releasing += counts.releasing;
  }
  return sum;
}

// A status counts pods that went before it was written. What goes in this cycle, it cannot know.
std::int64_t Pdb::Left(const Budget& budget) const {
  const auto counts = CountsOf(budget);
  if (!budget.spec->allowed) return counts.healthy - budget.desired;
  return budget.allowed - (counts.releasing - budget.releasing);
}

bool Pdb::MayGo(std::span<const TaskId> tasks, const Task* alone) const {
  std::map<std::size_t, std::int64_t> asked;  // by budget
  const auto ask = [&](const Task& task) {
    const std::uint32_t group = task.disruption.budgets;
    if (group == 0 || group >= in_group_.size()) return;
    for (const std::size_t budget : in_group_[group]) {
      const std::vector<std::string>& counted = budgets_[budget].spec->disrupted;
      if (!std::binary_search(counted.begin(), counted.end(), task.name)) ++asked[budget];
    }
  };
  if (alone != nullptr) ask(*alone);
  for (const TaskId id : tasks) ask(state_->workload().task(id));
  return std::all_of(asked.begin(), asked.end(), [&](const auto& entry) {
    return entry.second <= Left(budgets_[entry.first]);
  });
}

}  // namespace

Result<MadePlugin> MakePdb(const PluginConfig& config, ResourceNames& /*resources*/) {
  return MadePlugin{.plugin = std::make_unique<Pdb>(), .warnings = WarnOfUnknown(config, {})};
}

}  // namespace strata
