#include "sched/eviction/victims.h"

#include <algorithm>
#include <iterator>
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

VictimList::VictimList(const Session& session,
                       const std::vector<VictimFinder::Candidate>& candidates,
                       VictimOrder order) {
  const ClusterState& state = session.state();
  const HyperNodeTree& tree = session.tree();
  std::vector<Victim> gangs;
  for (const VictimFinder::Candidate& candidate : candidates) {
    for (const TaskId task : candidate.open) {
      if (!IsSpare(state, task)) continue;
      VictimUnit unit{.kind = VictimUnit::Kind::kSurplus, .job = candidate.job, .tasks = {task}};
      victims_.push_back(MakeVictim(session, std::move(unit), order));
    }
    if (!candidate.whole) continue;
    VictimUnit unit{.kind = VictimUnit::Kind::kGang, .job = candidate.job, .tasks = candidate.open};
    gangs.push_back(MakeVictim(session, std::move(unit), order));
  }
  const auto cheaper = [](const Victim& a, const Victim& b) { return a.alone < b.alone; };
  std::stable_sort(victims_.begin(), victims_.end(), cheaper);
  std::stable_sort(gangs.begin(), gangs.end(), cheaper);
  std::move(gangs.begin(), gangs.end(), std::back_inserter(victims_));
  in_.resize(tree.hypernodes().size());
  for (std::uint32_t i = 0; i < victims_.size(); ++i) {
    for (const TaskId task : victims_[i].unit.tasks) {
      const ChainId chain = tree.ChainOf(state.workload().task(task).node);
      for (const HyperNodeId hypernode : tree.HyperNodesOf(chain)) {
        std::vector<std::uint32_t>& units = in_[hypernode.index()];
        if (units.empty() || units.back() != i) units.push_back(i);
      }
    }
  }
}

std::vector<const Victim*> VictimList::In(HyperNodeId hypernode) const {
  std::vector<const Victim*> victims;
  victims.reserve(in_[hypernode.index()].size());
  for (const std::uint32_t i : in_[hypernode.index()]) victims.push_back(&victims_[i]);
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
