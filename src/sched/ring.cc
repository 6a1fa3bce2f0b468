#include "sched/ring.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sched/level_search.h"

namespace strata {
namespace {

struct Step {
  TaskId task;
  NodeId node;
  GpuClaim gpus;
};

// The leaves along the ring, a new entry wherever an edge crosses; one entry when none does.
class Runs {
 public:
  explicit Runs(const HyperNodeTree& tree) : tree_(tree) {}

  void Add(NodeId node) {
    const ChainId chain = tree_.ChainOf(node);
    if (chain == last_) return;
    last_ = chain;
    const HyperNodeId leaf = tree_.LeafOf(chain);
    if (leaves_.empty() || leaves_.back() != leaf) leaves_.push_back(leaf);
  }
  // To be called behind the last node.
  void Close() {
    if (leaves_.size() > 1 && leaves_.front() == leaves_.back()) leaves_.pop_back();
  }
  [[nodiscard]] std::size_t count() const { return leaves_.size(); }
  [[nodiscard]] bool HasEachLeafOnce() const {
    std::vector<HyperNodeId> sorted = leaves_;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  }

 private:
  const HyperNodeTree& tree_;
  std::vector<HyperNodeId> leaves_;
  ChainId last_;
};

// The same tasks in rank order.
std::vector<TaskId> ByRank(std::vector<TaskId> placed, const RankOrder& ranks) {
  const std::span<const TaskId> all = ranks.tasks();
  if (std::equal(placed.begin(), placed.end(), all.begin(), all.end())) return placed;
  std::sort(placed.begin(), placed.end());
  std::vector<TaskId> by_rank;
  by_rank.reserve(placed.size());
  for (const TaskId id : all) {
    if (std::binary_search(placed.begin(), placed.end(), id)) by_rank.push_back(id);
  }
  CHECK(by_rank.size() == placed.size());
  return by_rank;
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
  const WorkloadTable& workload = session.state().workload();
  std::vector<TaskId> placed = session.state().journal().PlacedSince(begin);
  // Two are near each other or not, in any order.
  if (placed.size() < 3 || session.plugins().ScoresTasksOf(job)) return;
  const std::vector<TaskId> tasks = ByRank(std::move(placed), ranks);
  Runs runs(session.tree());
  for (const TaskId id : tasks) {
    const Task& task = workload.task(id);
    if (task.status != TaskStatus::kAllocated) return;  // tasks that wait keep their places
    runs.Add(task.node);
  }
  runs.Close();
  if (runs.HasEachLeafOnce()) return;
  std::vector<Step> steps = InTreeOrder(session, tasks);
  Runs follows(session.tree());
  for (const Step& step : steps) follows.Add(step.node);
  follows.Close();
  if (follows.count() >= runs.count()) return;
  Replace(session, job, begin, std::move(steps));
}

}  // namespace strata
