#include "convert/pod_tasks.h"

#include <algorithm>
#include <utility>

#include "convert/numa_rules.h"
#include "convert/specs.h"

namespace strata {
namespace {

bool IsOver(TaskStatus status) {
  return status == TaskStatus::kSucceeded || status == TaskStatus::kFailed;
}

Result<TaskSpec> ReadTask(const objects::Pod& pod,
                          const PodSurroundings& around,
                          ClusterState& state) {
  TRY_ASSIGN(TaskSpec task, ToTaskSpec(pod, around.priorities, state.resource_names()));
  task.constraints.identity = around.rules.IdentityOf(pod);
  task.constraints.rules = around.rules.RulesOf(pod);
  task.constraints.volumes = around.volumes.RulesOf(pod);
  task.disruption.budgets = state.budgets().GroupOf(pod.meta.ns, pod.meta.labels);
  if (task.constraints.gpus && LimitsGpus(state, pod.meta.ns)) {
    task.constraints.gpus->quota_namespace = pod.meta.ns;
  }
  TRY_ASSIGN(task.constraints.numa, ToNumaRules(pod));
  if (!around.numa) task.constraints.numa.cpus.clear();  // nobody asks, and pods stay alike
  return task;
}

}  // namespace

bool LimitsGpus(const ClusterState& state, const std::string& ns) {
  const auto quotas = state.quotas().Of(ns);
  return std::any_of(
      quotas.begin(), quotas.end(), [](const QuotaSpec* quota) { return !quota->gpus.empty(); });
}

Result<PodReading> ReadPod(const objects::Pod& pod,
                           const PodSurroundings& around,
                           const TakesPod& takes,
                           ClusterState& state) {
  PodReading reading{.task = {}, .group = GroupOf(pod)};
  const bool has_node = !pod.spec.node_name.empty();
  const TaskStatus status = StatusOf(pod);
  const bool takes_it = has_node || takes(pod);
  reading.of_another = !takes_it && status == TaskStatus::kPending;
  if (!has_node && (!takes_it || status == TaskStatus::kReleasing)) return reading;
  const auto job = state.workload().FindJob(reading.group);
  if (!job) {
    reading.waits_for_group = !has_node && status == TaskStatus::kPending;
    if (!has_node || IsOver(status)) return reading;
  }
  TRY_ASSIGN(reading.task, Of(pod.meta, ReadTask(pod, around, state)));
  if (job) {
    reading.task->job = *job;
    const std::vector<SubGroupPolicy>& policies = state.workload().job(*job).spec.sub_groups;
    reading.task->sub_group = SubGroupOf(policies, pod.meta.labels);
    if (!reading.task->sub_group) {
      reading.task->missed_policy = PolicyMissed(policies, pod.meta.labels);
    }
  }
  return reading;
}

}  // namespace strata
