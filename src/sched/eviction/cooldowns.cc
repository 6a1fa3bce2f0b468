#include "sched/eviction/cooldowns.h"

#include <algorithm>

namespace strata {

std::optional<Time> NextCooldownEnd(const WorkloadTable& workload, Time now) {
  std::optional<Time> next;
  for (const TaskId id : workload.AllTasks()) {
    const Task& task = workload.task(id);
    const bool runs = task.status == TaskStatus::kBound || task.status == TaskStatus::kRunning;
    if (!runs || task.disruption.runs_since == Disruption::Moment{}) continue;
    const std::chrono::seconds own(task.disruption.cooldown_seconds);
    for (const std::chrono::seconds cooldown : {own, kDefaultCooldown}) {
      const Time end = Time(task.disruption.runs_since) + cooldown;
      if (end > now) next = std::min(next.value_or(end), end);
    }
  }
  return next;
}

}  // namespace strata
