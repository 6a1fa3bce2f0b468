#include "whatif/run.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sched/plugins/resourcequota.h"
#include "sched/scheduler.h"

namespace strata {
namespace {

double Millis(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

class Run {
 public:
  Run(LoadedCluster& cluster, const RunOptions& options)
      : state_(*cluster.state),
        load_(cluster.load),
        made_groups_(cluster.made_groups),
        options_(options) {
    now_ = options.now.value_or(cluster.latest);
    for (const LoadWarning& warning : load_.warnings) {
      warnings_.insert({warning.object, warning.reason, warning.message});
    }
    if (options.stopwatch) result_.timings.emplace();
  }

  RunResult Execute(Scheduler& scheduler) {
    const std::int32_t limit = options_.cycles.value_or(kMaxCycles);
    for (result_.cycles = 0; result_.cycles < limit;) {
      ++result_.cycles;
      const std::vector<JobId> outside = JobsOutside();
      const CycleResult cycle = OneCycle(scheduler);
      ChargeQuotas(outside);
      const bool decided = Note(cycle);
      if (result_.cycles == limit) break;  // nothing comes between the last cycle and the end
      const bool moved = Advance(cycle);
      if (!options_.cycles && !decided && !moved) break;
    }
    Summarise();
    return std::move(result_);
  }

 private:
  // Jobs that have not been admitted and request something.
  [[nodiscard]] std::vector<JobId> JobsOutside() const {
    std::vector<JobId> outside;
    for (const JobId id : state_.workload().jobs()) {
      const Job& job = state_.workload().job(id);
      if (job.phase == JobPhase::kPending && job.spec.min_resources) outside.push_back(id);
    }
    return outside;
  }

  // The pods of an admitted job are created now, and the quota controller counts them.
  void ChargeQuotas(const std::vector<JobId>& outside) {
    for (const JobId id : outside) {
      const Job& job = state_.workload().job(id);
      if (job.phase == JobPhase::kPending) continue;
      state_.quotas().Charge(NamespaceOf(job.spec), QuotaRequest(job.spec));
    }
  }

  CycleResult OneCycle(Scheduler& scheduler) {
    if (options_.on_cycle) options_.on_cycle(result_.cycles);
    if (options_.trace != nullptr) options_.trace->BeginCycle(result_.cycles);
    const auto start = Elapsed();
    scheduler.Open(now_, options_.trace);
    const auto opened = Elapsed();
    lines_ = scheduler.Lines();
    scheduler.RunActions();
    const auto acted = Elapsed();
    CycleResult cycle = scheduler.Close();
    const auto closed = Elapsed();
    if (result_.timings) {
      result_.timings->open_ms += Millis(opened - start);
      result_.timings->actions_ms += Millis(acted - opened);
      result_.timings->close_ms += Millis(closed - acted);
    }
    return cycle;
  }

  // Writes down what the cycle decided; true when it differs from "nothing new".
  bool Note(const CycleResult& cycle) {
    for (const CycleResult::Bind& bind : cycle.binds) {
      result_.binds.insert_or_assign(TaskName(bind.task), NodeName(bind.node));
      NoteDevices(bind.task);
    }
    for (const CycleResult::EvictionPlan& plan : cycle.evictions) NoteEvictions(plan);
    for (const CycleResult::Warning& warning : *cycle.warnings) {
      warnings_.insert({warning.object, warning.reason, warning.message});
    }
    std::map<std::string, std::string> pipelined;
    for (const CycleResult::Bind& wait : cycle.pipelined) {
      pipelined.insert_or_assign(TaskName(wait.task), NodeName(wait.node));
    }
    const bool changed = !cycle.binds.empty() || !cycle.evictions.empty() || cycle.phases_changed ||
                         pipelined != result_.pipelined || cycle.verdicts != verdicts_;
    result_.pipelined = std::move(pipelined);
    verdicts_ = cycle.verdicts;
    return changed;
  }

  void NoteEvictions(const CycleResult::EvictionPlan& plan) {
    RunResult::Evictions out{.cycle = result_.cycles,
                             .action = plan.action,
                             .claimant = state_.workload().job(plan.claimant).spec.name,
                             .hypernode = plan.hypernode,
                             .tier = plan.tier,
                             .victims = {}};
    for (const CycleResult::EvictionPlan::Victim& victim : plan.victims) {
      RunResult::Evictions::Victim& one = out.victims.emplace_back();
      one.job = state_.workload().job(victim.job).spec.name;
      one.whole_gang = victim.unit == VictimUnit::Kind::kGang;
      one.priority = state_.workload().job(victim.job).spec.priority;
      if (const QueueId queue = state_.workload().job(victim.job).queue; queue.valid()) {
        one.queue = state_.workload().queue(queue).spec.name;
      }
      for (const TaskId task : victim.tasks) NoteVictim(task, one);
      std::sort(one.pods.begin(), one.pods.end());
      std::sort(one.nodes.begin(), one.nodes.end());
      one.nodes.erase(std::unique(one.nodes.begin(), one.nodes.end()), one.nodes.end());
    }
    std::sort(out.victims.begin(), out.victims.end(), [](const auto& a, const auto& b) {
      return a.job < b.job;
    });
    result_.evictions.push_back(std::move(out));
  }

  void NoteVictim(TaskId id, RunResult::Evictions::Victim& out) {
    const Task& task = state_.workload().task(id);
    out.pods.push_back(task.name);
    if (task.node.valid()) out.nodes.push_back(NodeName(task.node));
    out.grace_seconds = std::max(out.grace_seconds, task.disruption.grace_seconds);
    if (task.disruption.runs_since != Disruption::Moment{}) {
      const std::int64_t seconds = (ToMoment(now_) - task.disruption.runs_since).count();
      out.runs_for = std::max(out.runs_for.value_or(0), seconds);
    }
    evicted_.insert(task.name);
    result_.binds.erase(task.name);
    result_.devices.erase(task.name);
  }

  // The GPUs that a bound pod was given.
  void NoteDevices(TaskId task) {
    const GpuClaim& claim = state_.workload().GpusOf(task);
    if (claim.empty()) return;
    const ClassSpec& spec = state_.classes().spec(state_.workload().task(task).class_id);
    RunResult::Devices& devices = result_.devices[TaskName(task)];
    for (std::size_t i = 0; i < claim.containers.size(); ++i) {
      for (const GpuShare& share : claim.containers[i]) {
        devices[spec.gpus->containers[i].container].push_back(share.uuid);
      }
    }
  }

  // The world between two cycles; true when something moved.
  bool Advance(const CycleResult& cycle) {
    for (const CycleResult::Bind& bind : cycle.binds) Start(bind.task);
    for (const CycleResult::EvictionPlan& plan : cycle.evictions) {
      for (const auto& victim : plan.victims) {
        for (const TaskId task : victim.tasks) leaving_.emplace(task, Leaving{GoneAt(task), true});
      }
    }
    for (const TaskId task : load_.terminating) leaving_.emplace(task, Leaving{now_, false});
    load_.terminating.clear();
    const bool quiet = cycle.binds.empty() && cycle.evictions.empty();
    if (quiet) WaitForNext();
    const bool gone = RemoveGone();
    return !quiet || gone;
  }

  // A pod that has been told to stop.
  struct Leaving {
    Time gone_at{};
    bool evicted = false;
  };

  [[nodiscard]] Time GoneAt(TaskId task) const {
    if (!options_.play_grace) return now_;
    return now_ + std::chrono::seconds(state_.workload().task(task).disruption.grace_seconds);
  }

  // Lets time pass until the next pod is gone.
  void WaitForNext() {
    if (leaving_.empty()) return;
    const auto next =
        std::min_element(leaving_.begin(), leaving_.end(), [](const auto& a, const auto& b) {
          return a.second.gone_at < b.second.gone_at;
        });
    if (next->second.gone_at <= now_) return;
    result_.seconds += std::chrono::ceil<std::chrono::seconds>(next->second.gone_at - now_).count();
    now_ = next->second.gone_at;
  }

  bool RemoveGone() {
    return std::erase_if(leaving_, [&](const auto& entry) {
             const auto& [task, leaving] = entry;
             if (leaving.gone_at > now_) return false;
             leaving.evicted&& options_.recreate ? Recreate(task) : Remove(task);
             return true;
           }) > 0;
  }

  // What its controller does: a new pod of the same name, which waits.
  void Recreate(TaskId task) {
    Disruption disruption = state_.workload().task(task).disruption;
    disruption.runs_since = {};
    disruption.saved_at = {};
    state_.workload().SetDisruption(task, disruption);
    state_.workload().Move(task, TaskStatus::kPending, NodeId{});
  }

  // A job that has just begun is not evicted in the same run.
  void Start(TaskId task) {
    Disruption disruption = state_.workload().task(task).disruption;
    disruption.runs_since = ToMoment(now_);
    state_.workload().SetDisruption(task, disruption);
    state_.workload().SetTaskStatus(task, TaskStatus::kRunning);
  }

  // A PodGroup made for a lone pod is owned by it.
  void Remove(TaskId task) {
    const JobId job = state_.workload().task(task).job;
    state_.workload().RemoveTask(task);
    if (!job.valid() || state_.workload().job(job).counts.Total() > 0) return;
    if (made_groups_.contains(state_.workload().job(job).spec.name)) {
      state_.workload().RemoveJob(job);
    }
  }

  void Summarise() {
    result_.evicted.assign(evicted_.begin(), evicted_.end());
    result_.warnings.assign(warnings_.begin(), warnings_.end());
    result_.topology_ready = state_.tree().ready();
    SummariseJobs();
    SummariseLines();
    SummariseHyperNodes();
  }

  void SummariseJobs() {
    for (const JobId id : state_.workload().jobs()) {
      const Job& job = state_.workload().job(id);
      RunResult::Job& out = result_.jobs[job.spec.name];
      out.phase = ToString(job.phase);
      const auto domain = state_.tree().Find(job.allocated_hypernode);
      if (domain && *domain != state_.tree().top()) {
        out.allocated_hypernode = job.allocated_hypernode;
        out.tier = state_.tree().at(*domain).tier;
      }
      if (const auto it = verdicts_.find(id); it != verdicts_.end()) {
        out.reason = it->second.reason;
        out.message = it->second.message;
      }
    }
    for (const MissingGroup& group : load_.missing_groups) {
      RunResult::Job& out = result_.jobs[group.name];
      out.phase = ToString(JobPhase::kPending);
      out.reason = "PodGroupNotFound";
      out.message = fmt::format("{} {} for PodGroup {}, which does not exist",
                                group.pods,
                                group.pods == 1 ? "pod waits" : "pods wait",
                                group.name);
    }
  }

  void SummariseLines() {
    for (const auto& [queue, line] : lines_) {
      std::vector<std::string> waiting;
      for (const JobId id : line) {
        if (verdicts_.contains(id)) waiting.push_back(state_.workload().job(id).spec.name);
      }
      if (!waiting.empty()) result_.lines[state_.workload().queue(queue).spec.name] = waiting;
    }
  }

  void SummariseHyperNodes() {
    const HyperNodeTree& tree = state_.tree();
    const auto all = tree.hypernodes();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto id = IdAt<HyperNodeId>(i);
      if (id == tree.top()) continue;
      const HyperNodeTree::HyperNode& hypernode = all[i];
      const bool has_parent = hypernode.parent.valid() && hypernode.parent != tree.top();
      result_.hypernodes.emplace(
          hypernode.name,
          RunResult::HyperNode{.tier = hypernode.tier,
                               .parent = has_parent ? tree.at(hypernode.parent).name : "",
                               .nodes = tree.NodesOf(id).size(),
                               .ready = hypernode.ready,
                               .reason = hypernode.reason});
    }
  }

  [[nodiscard]] std::chrono::nanoseconds Elapsed() const {
    return options_.stopwatch ? options_.stopwatch() : std::chrono::nanoseconds(0);
  }
  [[nodiscard]] const std::string& TaskName(TaskId id) const {
    return state_.workload().task(id).name;
  }
  [[nodiscard]] const std::string& NodeName(NodeId id) const {
    return state_.nodes().spec(id).name;
  }

  ClusterState& state_;
  LoadReport& load_;
  const std::set<std::string, std::less<>>& made_groups_;
  const RunOptions& options_;
  Time now_{};
  std::map<JobId, Refusal> verdicts_;            // of the last cycle
  std::map<QueueId, std::vector<JobId>> lines_;  // at its beginning
  std::map<TaskId, Leaving> leaving_;
  std::set<std::string> evicted_;
  std::set<RunResult::Warning> warnings_;
  RunResult result_;
};

}  // namespace

Result<RunResult> RunCycles(LoadedCluster& cluster,
                            const SchedulerConfig& config,
                            const RunOptions& options) {
  TRY_ASSIGN(const Scheduler::Made made, Scheduler::Make(config, *cluster.state));
  if (options.explain_only) made.scheduler->ExplainOnly(*options.explain_only);
  return Run(cluster, options).Execute(*made.scheduler);
}

}  // namespace strata
