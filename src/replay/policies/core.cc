#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "model/gpu_amounts.h"
#include "replay/policies/policy.h"
#include "sched/scheduler.h"

namespace strata::replay {
namespace {

// The scheduler on a state of its own. The state holds what runs, and the one job that is asked
// about: so it has its place by the rules of the configuration, and the engine's queue decides when
// it is asked, as for every other policy.
class CorePolicy final : public Policy {
 public:
  CorePolicy(const Workload& workload, const Fabric& fabric)
      : workload_(workload), jobs_(workload.jobs.size()) {
    gpu_ = state_.resource_names().Intern(kGpuResource);
    for (NodeIndex node = 0; node < fabric.nodes.size(); ++node) {
      index_.emplace(fabric.nodes[node].name, node);
    }
    for (const Fabric::Level& level : fabric.levels) tiers_.push_back(level.tier);
  }

  Status Open(const SchedulerConfig& config, const Fabric& fabric) {
    TRY(FillState(fabric, state_));
    for (const JobClass& one : workload_.classes) {
      QueueSpec queue;
      queue.name = one.queue;
      if (!state_.workload().FindQueue(one.queue)) state_.workload().UpsertQueue(std::move(queue));
    }
    TRY_ASSIGN(Scheduler::Made made, Scheduler::Make(config, state_));
    scheduler_ = std::move(made.scheduler);
    node_of_.resize(state_.nodes().slots());
    for (const NodeId id : state_.nodes().all()) {
      node_of_[id.index()] = index_.at(state_.nodes().spec(id).name);
    }
    return {};
  }

  std::vector<NodeIndex> Place(const PlaceJob& job, Room& /*room*/) override {
    const Time now{std::chrono::milliseconds(job.now)};
    const std::vector<TaskId> tasks = Add(job, now);
    scheduler_->Open(now, nullptr);
    scheduler_->RunActions();
    const CycleResult cycle = scheduler_->Close();
    std::vector<NodeIndex> nodes;
    for (const TaskId id : tasks) {
      const Task& task = state_.workload().task(id);
      if (task.status != TaskStatus::kBinding) break;
      nodes.push_back(node_of_[task.node.index()]);
    }
    if (nodes.size() < tasks.size()) {
      End(job.job);
      return {};
    }
    for (const TaskId id : tasks) state_.workload().SetTaskStatus(id, TaskStatus::kRunning);
    return nodes;
  }

  void End(std::uint32_t job) override {
    CHECK(jobs_[job].valid());
    state_.workload().RemoveJob(jobs_[job]);
    jobs_[job] = {};
  }

 private:
  std::vector<TaskId> Add(const PlaceJob& job, Time now) {
    const JobClass& wanted = *job.job_class;
    JobSpec spec;
    spec.name = fmt::format("replay/{:09}", job.job);
    spec.uid = spec.name;
    spec.queue = wanted.queue;
    spec.priority = workload_.jobs[job.job].priority;
    spec.min_available = wanted.pods;
    spec.created = now;
    spec.phase = JobPhase::kInqueue;
    if (wanted.wish == Wish::kSoft) spec.topology.mode = TopologySpec::Mode::kSoft;
    if (wanted.wish == Wish::kHard) {
      spec.topology.mode = TopologySpec::Mode::kHard;
      spec.topology.highest_tier = wanted.max_level < tiers_.size()
                                       ? tiers_[wanted.max_level]
                                       : (tiers_.empty() ? 1 : tiers_.back() + 1);
    }
    jobs_[job.job] = state_.workload().UpsertJob(std::move(spec));
    std::vector<TaskId> tasks;
    for (std::int32_t rank = 0; rank < wanted.pods; ++rank) {
      const PodShape& pod = wanted.ShapeOf(rank);
      TaskSpec task;
      task.name = fmt::format("replay/{:09}-{}", job.job, rank);
      task.uid = task.name;
      task.job = jobs_[job.job];
      task.constraints.request.Set(gpu_, Amount{pod.gpus} * 1000);
      task.constraints.request.Set(kCpu, pod.cpu_milli);
      task.constraints.request.Set(kMemory, pod.memory);
      task.constraints.request.Set(kPods, 1);
      task.constraints.nonzero_cpu = pod.cpu_milli;
      task.constraints.nonzero_memory = pod.memory;
      task.created = now;
      tasks.push_back(state_.workload().AddTask(std::move(task)));
    }
    return tasks;
  }

  const Workload& workload_;
  ClusterState state_;
  std::unique_ptr<Scheduler> scheduler_;
  ResourceId gpu_;
  std::vector<std::int32_t> tiers_;
  std::map<std::string, NodeIndex, std::less<>> index_;
  std::vector<NodeIndex> node_of_;  // by NodeId
  std::vector<JobId> jobs_;         // by job: none unless it runs
};

}  // namespace

Result<std::unique_ptr<Policy>> MakeCorePolicy(const SchedulerConfig& config,
                                               const Workload& workload,
                                               const Fabric& fabric) {
  auto policy = std::make_unique<CorePolicy>(workload, fabric);
  TRY(policy->Open(config, fabric));
  return Result<std::unique_ptr<Policy>>(std::move(policy));
}

}  // namespace strata::replay
