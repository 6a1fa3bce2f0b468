#include "sched/eviction/victims.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sched/eviction/spare_pods.h"

namespace strata {
namespace {

bool StillRuns(const Task& task) {
  return task.status == TaskStatus::kBound || task.status == TaskStatus::kRunning;
}

// Units of one kind that cost the same go by the name of the job; those of one job stay in the
// order in which its pods go.
void SortByCost(std::vector<Victim>& victims, VictimOrder order) {
  std::stable_sort(victims.begin(), victims.end(), [&](const Victim& a, const Victim& b) {
    if (CostsLess(a.unit.kind, a.price, b.unit.kind, b.price, order)) return true;
    if (CostsLess(b.unit.kind, b.price, a.unit.kind, a.price, order)) return false;
    return a.job_name < b.job_name;
  });
}

}  // namespace

std::vector<Victim> VictimMap::UnitsIn(HyperNodeId hypernode,
                                       VictimOrder order,
                                       std::optional<std::int32_t> highest) const {
  const ClusterState& state = session_.state();
  const VictimBook& book = finder_.book();
  std::vector<Victim> surplus;
  std::vector<Victim> gangs;
  std::vector<bool> inside(state.tree().chain_count());
  for (const NodeId node : state.tree().NodesOf(hypernode)) {
    inside[state.tree().ChainOf(node).index()] = true;
  }
  for (const VictimFinder::Candidate& candidate : found_.candidates) {
    const auto& where = book.at(candidate.job).where;
    if (std::none_of(where.begin(), where.end(), [&](const auto& part) {
          return inside[part.chain.index()];
        })) {
      continue;
    }
    const Job& job = state.workload().job(candidate.job);
    if (candidate.own || book.at(candidate.job).may_have_spare) {
      for (const TaskId& task : candidate.open) {
        const ChainId chain = state.tree().ChainOf(state.workload().task(task).node);
        if (!inside[chain.index()] || (!candidate.own && !IsSpare(state, task))) continue;
        VictimUnit unit{
            .kind = VictimUnit::Kind::kSurplus, .job = candidate.job, .tasks = std::span(&task, 1)};
        const UnitPrice price = PriceOf(state, unit, session_.now());
        surplus.push_back({.unit = unit, .price = price, .job_name = job.spec.name});
      }
    }
    if (!candidate.whole || (highest && job.spec.priority > *highest)) continue;
    const VictimUnit unit{
        .kind = VictimUnit::Kind::kGang, .job = candidate.job, .tasks = candidate.open};
    const UnitPrice price = book.PriceOfAll(state, candidate.job, session_.now());
    gangs.push_back({.unit = unit, .price = price, .job_name = job.spec.name});
  }
  SortByCost(surplus, order);
  SortByCost(gangs, order);
  surplus.insert(surplus.end(), gangs.begin(), gangs.end());
  return surplus;
}

// A job that takes the place of its own pods may end with fewer of them only where the gang plugin
// does not vote: the proof sees to it that the minimums hold with the tasks that come instead.
bool UnitTaker::IsLoose(TaskId task) const {
  if (claim_.kind != EvictionKind::kWithinJob) return IsSpare(session_.state(), task);
  return !votes_.SparesGangs() || IsBeyondMinimums(session_.state(), task);
}

bool UnitTaker::Runs(const VictimUnit& unit) const {
  return std::any_of(unit.tasks.begin(), unit.tasks.end(), [&](TaskId task) {
    return StillRuns(session_.state().workload().task(task));
  });
}

bool UnitTaker::MayGo(const VictimUnit& unit) const {
  Journal& journal = session_.state().journal();
  const Journal::Savepoint begin = journal.Mark();
  const bool goes = !Take(unit).empty();
  journal.RollbackTo(begin);
  return goes;
}

std::vector<TaskId> UnitTaker::Take(const VictimUnit& unit) const {
  const ClusterState& state = session_.state();
  std::vector<TaskId> left;
  left.reserve(unit.tasks.size());
  std::copy_if(unit.tasks.begin(), unit.tasks.end(), std::back_inserter(left), [&](TaskId task) {
    return StillRuns(state.workload().task(task));
  });
  if (left.empty()) return {};
  if (unit.kind == VictimUnit::Kind::kSurplus && !IsLoose(left.front())) return {};
  const VictimUnit rest{.kind = unit.kind, .job = unit.job, .tasks = left};
  if (!votes_.Grants(tier_, claim_, rest) || votes_.SparesUnit(rest)) return {};
  for (const TaskId task : left) session_.Evict(task);
  return left;
}

}  // namespace strata
