#include "defrag/movers.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sched/eviction/cost.h"
#include "sched/eviction/spare_pods.h"
#include "sched/victim_point.h"

namespace strata {
namespace {

bool Runs(const Task& task) {
  return task.status == TaskStatus::kRunning || task.status == TaskStatus::kBound;
}

std::vector<TaskId> RunningTasksOf(const ClusterState& state, JobId job) {
  std::vector<TaskId> tasks;
  for (const SubJob& sub_job : state.workload().job(job).sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = state.workload().task(id);
      if (Runs(task) && task.node.valid()) tasks.push_back(id);
    }
  }
  std::sort(tasks.begin(), tasks.end());
  return tasks;
}

}  // namespace

bool Movers::CanSpare(JobId job, std::span<const TaskId> tasks) {
  const Board::Mark mark = board_.Here();
  board_.Recreate(tasks);
  const bool spare = HasMinimums(board_.state().workload().job(job));
  board_.RollbackTo(mark);
  return spare;
}

Mover Movers::MoverOf(JobId job, std::vector<TaskId> here) {
  Mover mover{.job = job, .tasks = std::move(here)};
  if (!CanSpare(job, mover.tasks)) {
    mover.whole_gang = true;
    mover.tasks = RunningTasksOf(board_.state(), job);
  }
  const auto kind = mover.whole_gang ? VictimUnit::Kind::kGang : VictimUnit::Kind::kSurplus;
  const UnitPrice price =
      PriceOf(board_.state(), {.kind = kind, .job = job, .tasks = mover.tasks}, board_.now());
  mover.lost_work = price.lost_work;
  return mover;
}

std::vector<Mover> Movers::On(std::span<const NodeId> nodes) {
  const WorkloadTable& workload = board_.state().workload();
  std::map<JobId, std::vector<TaskId>> by_job;
  for (const NodeId node : nodes) {
    for (const TaskId id : board_.state().nodes().TasksOn(node)) {
      const Task& task = workload.task(id);
      const bool may_move = task.job.valid() && Runs(task) &&
                            !board_.staying().contains(task.job) &&
                            !bound_pods_.contains(task.name);
      if (may_move) by_job[task.job].push_back(id);
    }
  }
  std::vector<Mover> movers;
  movers.reserve(by_job.size());
  for (auto& [job, tasks] : by_job) {
    std::sort(tasks.begin(), tasks.end());
    movers.push_back(MoverOf(job, std::move(tasks)));
  }
  const auto price = [&](const Mover& mover) {
    return std::tuple(mover.whole_gang,
                      mover.tasks.size(),
                      mover.lost_work,
                      std::string_view(workload.job(mover.job).spec.name));
  };
  std::sort(movers.begin(), movers.end(), [&](const Mover& a, const Mover& b) {
    return price(a) < price(b);
  });
  return movers;
}

std::optional<std::string> Movers::WhoStaysOn(std::span<const NodeId> nodes) const {
  const WorkloadTable& workload = board_.state().workload();
  for (const NodeId node : nodes) {
    for (const TaskId id : board_.state().nodes().TasksOn(node)) {
      const Task& task = workload.task(id);
      if (bound_pods_.contains(task.name)) continue;
      if (!task.job.valid()) return fmt::format("pod {} is of another scheduler", task.name);
      if (!Runs(task)) return fmt::format("pod {} is on its way out", task.name);
      const auto stays = board_.staying().find(task.job);
      if (stays != board_.staying().end()) {
        return fmt::format("pod {} has to stay (pods {})", task.name, stays->second);
      }
    }
  }
  return std::nullopt;
}

std::vector<NodeId> Movers::NodesOf(JobId job) const {
  std::vector<NodeId> nodes = board_.NodesOf(RunningTasksOf(board_.state(), job));
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

DefragPlan::Place Movers::PlaceOf(JobId job) const {
  const HyperNodeTree& tree = board_.state().tree();
  HyperNodeId common;
  for (const NodeId node : NodesOf(job)) {
    const ChainId chain = tree.ChainOf(node);
    if (chain.valid()) common = tree.Lca(common, tree.LeafOf(chain));
  }
  if (!common.valid() || common == tree.top()) return {};
  return {.hypernode = tree.at(common).name, .tier = tree.at(common).tier};
}

std::optional<DefragPlan::Move> Movers::TryMove(const Mover& mover) {
  const WorkloadTable& workload = board_.state().workload();
  const auto node_names = [&] {
    std::vector<std::string> names;
    names.reserve(mover.tasks.size());
    for (const NodeId node : board_.NodesOf(mover.tasks)) {
      names.push_back(board_.state().nodes().spec(node).name);
    }
    return names;
  };
  const Board::Mark mark = board_.Here();
  DefragPlan::Move move{.group = workload.job(mover.job).spec.name,
                        .whole_gang = mover.whole_gang,
                        .pods = {},
                        .from = PlaceOf(mover.job),
                        .to = {},
                        .lost_work = mover.lost_work};
  const std::vector<std::string> from = node_names();
  board_.Recreate(mover.tasks);
  board_.RunCycle();
  const std::vector<std::string> to = node_names();
  move.to = PlaceOf(mover.job);
  // The cluster as a whole is above all tiers.
  const auto height = [](const DefragPlan::Place& place) {
    return std::pair(place.hypernode.empty(), place.tier);
  };
  const bool is_higher =
      workload.job(mover.job).HasTopology() && height(move.to) > height(move.from);
  if (to.size() < mover.tasks.size() || (is_higher && !allow_higher_tier_)) {
    board_.RollbackTo(mark);
    return std::nullopt;
  }
  for (std::size_t i = 0; i < mover.tasks.size(); ++i) {
    move.pods.push_back({workload.task(mover.tasks[i]).name, from[i], to[i]});
  }
  std::sort(move.pods.begin(), move.pods.end(), [](const auto& a, const auto& b) {
    return a.pod < b.pod;
  });
  return move;
}

}  // namespace strata
