#include "sched/eviction/victims.h"

#include <algorithm>
#include <utility>

#include "sched/eviction/spare_pods.h"

namespace strata {
namespace {

Victim MakeVictim(const Session& session, VictimUnit unit, VictimOrder order) {
  Victim victim{.unit = std::move(unit), .price = {}, .alone = {}};
  victim.price = PriceOf(session.state(), victim.unit, session.now());
  victim.alone.Add(victim.unit.kind, victim.price, order);
  return victim;
}

bool StillRuns(const Task& task) {
  return task.status == TaskStatus::kBound || task.status == TaskStatus::kRunning;
}

}  // namespace

std::vector<Victim> VictimsIn(const Session& session,
                              const std::vector<VictimFinder::Candidate>& candidates,
                              HyperNodeId domain,
                              VictimOrder order) {
  const ClusterState& state = session.state();
  const auto is_inside = [&](TaskId task) {
    return domain == session.tree().top() ||
           session.tree().Contains(domain, state.workload().task(task).node);
  };
  std::vector<Victim> victims;
  std::vector<Victim> gangs;
  for (const VictimFinder::Candidate& candidate : candidates) {
    for (const TaskId task : candidate.open) {
      if (!is_inside(task) || !IsSpare(state, task)) continue;
      victims.push_back(
          MakeVictim(session,
                     {.kind = VictimUnit::Kind::kSurplus, .job = candidate.job, .tasks = {task}},
                     order));
    }
    if (!candidate.whole || std::none_of(candidate.open.begin(), candidate.open.end(), is_inside)) {
      continue;
    }
    gangs.push_back(
        MakeVictim(session,
                   {.kind = VictimUnit::Kind::kGang, .job = candidate.job, .tasks = candidate.open},
                   order));
  }
  const auto cheaper = [](const Victim& a, const Victim& b) { return a.alone < b.alone; };
  std::stable_sort(victims.begin(), victims.end(), cheaper);
  std::stable_sort(gangs.begin(), gangs.end(), cheaper);
  std::move(gangs.begin(), gangs.end(), std::back_inserter(victims));
  return victims;
}

std::vector<TaskId> UnitTaker::Take(const VictimUnit& unit) const {
  const ClusterState& state = session_.state();
  VictimUnit left{.kind = unit.kind, .job = unit.job, .tasks = {}};
  std::copy_if(
      unit.tasks.begin(), unit.tasks.end(), std::back_inserter(left.tasks), [&](TaskId task) {
        return StillRuns(state.workload().task(task));
      });
  if (left.tasks.empty()) return {};
  if (unit.kind == VictimUnit::Kind::kSurplus && !IsSpare(state, left.tasks.front())) return {};
  if (!votes_.Grants(tier_, claim_, left)) return {};
  for (const TaskId task : left.tasks) session_.Evict(task);
  return std::move(left.tasks);
}

}  // namespace strata
