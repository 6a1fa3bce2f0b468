#include "sched/plugins/task_topology.h"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "sched/plugins/argument_rules.h"
#include "sched/plugins/task_buckets.h"

namespace strata {
namespace {

constexpr std::string_view kWeightKey = "task-topology.weight";
// Any number of tasks may want to be apart. This keeps their sum within what a Score can hold.
constexpr double kMaxScore = 1e9;

// What one task asks for, what it and the next of its bucket ask for, and so on.
std::vector<Resources> RunningSums(const ClusterState& state,
                                   const TaskBuckets::Bucket& bucket,
                                   TaskId first) {
  std::vector<Resources> sums{state.classes().spec(state.workload().task(first).class_id).request};
  for (const TaskId id : bucket.tasks) {
    const Task& task = state.workload().task(id);
    if (id == first || task.status != TaskStatus::kPending) continue;
    Resources sum = sums.back();
    sum.AddSaturating(state.classes().spec(task.class_id).request);
    sums.push_back(std::move(sum));
  }
  return sums;
}

// Per node of the job: tasks of the same bucket there, less tasks that the role does not want to be
// with.
std::map<NodeId, int> Company(const ClusterState& state,
                              const Task& task,
                              const TaskBuckets& buckets) {
  const auto mine = buckets.BucketOf(task);
  std::map<NodeId, int> company;
  for (const SubJob& sub_job : state.workload().job(task.job).sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& other = state.workload().task(id);
      if (!other.node.valid()) continue;
      if (buckets.BucketOf(other) == mine) ++company[other.node];
      if (buckets.AreApart(task.role, other.role)) --company[other.node];
    }
  }
  return company;
}

class TaskTopology final : public Plugin, public OrderPoint, public TaskScorePoint {
 public:
  explicit TaskTopology(std::int64_t weight) : weight_(weight) {}

  void Open(const ClusterState& state, Time /*now*/) override {
    buckets_.clear();
    for (const JobId id : state.workload().WaitingJobs()) {
      const Job& job = state.workload().job(id);
      const bool waits = job.counts.Of(TaskStatus::kPending) > 0;
      if (waits && !job.spec.role_affinity.empty()) buckets_.emplace(id, TaskBuckets(state, job));
    }
  }

  [[nodiscard]] int CompareTasks(const Task& a, const Task& b) const override {
    if (buckets_.empty() || a.job != b.job) return 0;
    const auto it = buckets_.find(a.job);
    return it == buckets_.end() ? 0 : it->second.Compare(a, b);
  }

  [[nodiscard]] bool ScoresTasksOf(JobId job) const override { return buckets_.contains(job); }

  void ScoreForTask(const ClusterState& state,
                    TaskId id,
                    std::span<const NodeId> nodes,
                    std::span<Score> out) const override {
    std::fill(out.begin(), out.end(), 0);
    const Task& task = state.workload().task(id);
    const TaskBuckets& buckets = buckets_.at(task.job);
    const auto mine = buckets.BucketOf(task);
    if (!mine) return;
    const std::vector<Resources> sums = RunningSums(state, buckets.buckets()[*mine], id);
    const std::map<NodeId, int> company = Company(state, task, buckets);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto end = std::partition_point(sums.begin(), sums.end(), [&](const Resources& sum) {
        return sum.FitsIn(state.nodes().FutureIdle(nodes[i]));
      });
      const auto there = company.find(nodes[i]);
      const auto fits = static_cast<double>(end - sums.begin());
      const double overlap = fits + (there == company.end() ? 0 : there->second);
      const double score =
          overlap * static_cast<double>(weight_) * 100.0 / static_cast<double>(buckets.largest());
      out[i] = ToScore(std::clamp(score, -kMaxScore, kMaxScore));
    }
  }

 private:
  std::int64_t weight_;
  std::map<JobId, TaskBuckets> buckets_;  // of the jobs that have rules and something to place
};

}  // namespace

Result<MadePlugin> MakeTaskTopology(const PluginConfig& config, ResourceNames& /*resources*/) {
  TRY_ASSIGN(const std::int64_t weight,
             WeightArgument(config.arguments, kWeightKey, 1, IfNegative::kKeep));
  return MadePlugin{.plugin = std::make_unique<TaskTopology>(weight),
                    .warnings = WarnOfUnknown(config, {kWeightKey})};
}

}  // namespace strata
