#include "sched/ring.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sched/level_search.h"

namespace strata {
namespace {

struct Step {
  TaskId task;
  NodeId node;
  GpuClaim gpus;
};

HyperNodeId LeafOf(const Session& session, NodeId node) {
  return session.tree().LeafOf(session.tree().ChainOf(node));
}

// The leaves along the ring, a new entry wherever an edge crosses; one entry when none does.
std::vector<HyperNodeId> RunsOf(const Session& session, const std::vector<NodeId>& ring) {
  std::vector<HyperNodeId> runs;
  for (const NodeId node : ring) {
    const HyperNodeId leaf = LeafOf(session, node);
    if (runs.empty() || runs.back() != leaf) runs.push_back(leaf);
  }
  if (runs.size() > 1 && runs.front() == runs.back()) runs.pop_back();
  return runs;
}

bool HasEachOnce(std::vector<HyperNodeId> runs) {
  std::sort(runs.begin(), runs.end());
  return std::adjacent_find(runs.begin(), runs.end()) == runs.end();
}

// What is placed, in rank order.
std::vector<NodeId> NodesInOrder(const ClusterState& state, const std::vector<TaskId>& tasks) {
  std::vector<NodeId> nodes;
  nodes.reserve(tasks.size());
  for (const TaskId id : tasks) nodes.push_back(state.workload().task(id).node);
  return nodes;
}

// The tasks placed since `begin`, in rank order; empty when they are not to exchange nodes.
std::vector<TaskId> PlacedByRank(const Session& session,
                                 JobId job,
                                 const RankOrder& ranks,
                                 Journal::Savepoint begin) {
  const WorkloadTable& workload = session.state().workload();
  std::vector<TaskId> placed = session.state().journal().PlacedSince(begin);
  // Two are near each other or not, in any order.
  if (placed.size() < 3 || session.plugins().ScoresTasksOf(job)) return {};
  const auto is_allocated = [&](TaskId id) {
    return workload.task(id).status == TaskStatus::kAllocated;
  };
  if (!std::all_of(placed.begin(), placed.end(), is_allocated)) return {};
  if (std::equal(placed.begin(), placed.end(), ranks.tasks().begin(), ranks.tasks().end())) {
    return placed;
  }
  std::sort(placed.begin(), placed.end());
  std::vector<TaskId> by_rank;
  by_rank.reserve(placed.size());
  for (const TaskId id : ranks.tasks()) {
    if (!is_allocated(id)) continue;
    if (std::binary_search(placed.begin(), placed.end(), id)) by_rank.push_back(id);
  }
  return by_rank.size() == placed.size() ? by_rank : std::vector<TaskId>{};
}

// Each class of each sub-job gets its own nodes in the order of the tree.
std::vector<Step> InTreeOrder(const Session& session, const std::vector<TaskId>& tasks) {
  const ClusterState& state = session.state();
  const HyperNodeTree& tree = session.tree();
  std::map<HyperNodeId, ChainId> first_chain;
  for (const TaskId id : tasks) {
    const ChainId chain = tree.ChainOf(state.workload().task(id).node);
    auto& first = first_chain.try_emplace(tree.LeafOf(chain), chain).first->second;
    first = std::min(first, chain);
  }
  using Group = std::pair<std::uint32_t, ClassId>;
  std::map<Group, std::vector<TaskId>> holders;
  const auto group_of = [&](TaskId id) {
    const Task& task = state.workload().task(id);
    return Group{task.sub_job, task.class_id};
  };
  for (const TaskId id : tasks) holders[group_of(id)].push_back(id);
  const auto place = [&](TaskId id) {
    const NodeId node = state.workload().task(id).node;
    const ChainId chain = tree.ChainOf(node);
    const HyperNodeId leaf = tree.LeafOf(chain);
    return std::tuple(first_chain.at(leaf), leaf, chain, tree.NameRank(node));
  };
  for (auto& [group, ids] : holders) {
    std::stable_sort(
        ids.begin(), ids.end(), [&](TaskId a, TaskId b) { return place(a) < place(b); });
  }
  std::map<Group, std::size_t> next;
  std::vector<Step> steps;
  for (const TaskId id : tasks) {
    const Group group = group_of(id);
    const TaskId holder = holders[group][next[group]++];
    steps.push_back({.task = id,
                     .node = state.workload().task(holder).node,
                     .gpus = state.workload().GpusOf(holder)});
  }
  return steps;
}

void Replace(Session& session, JobId job, Journal::Savepoint begin, std::vector<Step> steps) {
  ClusterState& state = session.state();
  const Job& the_job = state.workload().job(job);
  const std::string domain = the_job.allocated_hypernode;
  std::vector<std::string> domains;
  for (const SubJob& sub_job : the_job.sub_jobs) domains.push_back(sub_job.allocated_hypernode);
  const HyperNodeId at = session.tree().Find(domain).value_or(session.tree().top());
  state.journal().RollbackTo(begin);
  TraceDiscard(session, job, at);
  for (Step& step : steps) {
    session.Place(step.task, step.node, DevicePoint::When::kNow, at, std::move(step.gpus));
  }
  for (std::size_t i = 0; i < domains.size(); ++i) {
    if (the_job.sub_jobs[i].allocated_hypernode != domains[i]) {
      state.journal().SetDomain(job, i, domains[i]);
    }
  }
  if (the_job.allocated_hypernode != domain) state.journal().SetDomain(job, domain);
}

}  // namespace

void FollowRanks(Session& session, JobId job, const RankOrder& ranks, Journal::Savepoint begin) {
  const std::vector<TaskId> tasks = PlacedByRank(session, job, ranks, begin);
  const std::vector<HyperNodeId> runs = RunsOf(session, NodesInOrder(session.state(), tasks));
  if (HasEachOnce(runs)) return;
  std::vector<Step> steps = InTreeOrder(session, tasks);
  std::vector<NodeId> nodes;
  nodes.reserve(steps.size());
  for (const Step& step : steps) nodes.push_back(step.node);
  if (RunsOf(session, nodes).size() >= runs.size()) return;
  Replace(session, job, begin, std::move(steps));
}

}  // namespace strata
