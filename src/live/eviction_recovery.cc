#include "live/eviction_recovery.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "convert/specs.h"
#include "sched/eviction/claims.h"

namespace strata::live {
namespace {

kube::PodName NameOfPod(const objects::Pod& pod) {
  return {pod.meta.ns, pod.meta.name, pod.meta.uid};
}

struct Leftovers {
  std::map<std::string, std::vector<const objects::Pod*>> nominated;  // by job
  std::map<std::string, std::vector<const objects::Pod*>> marked;     // by the job they go for
  std::map<std::string, std::string> action;                          // by the same
};

Leftovers Collect(const ClusterFeed& feed) {
  Leftovers left;
  feed.VisitPods([&](const objects::Pod& pod) {
    const bool waits =
        pod.spec.node_name.empty() && !pod.meta.deleted && StatusOf(pod) == TaskStatus::kPending;
    if (waits && !pod.status.nominated_node_name.empty() && feed.takes()(pod)) {
      left.nominated[GroupOf(pod)].push_back(&pod);
    }
    if (const auto mark = ReadMark(pod)) {
      left.marked[mark->job].push_back(&pod);
      left.action[mark->job] = mark->action;
    }
  });
  return left;
}

// True when the job starts once these many of its pods have their nodes.
bool IsEnough(const Job& job, std::size_t nominated) {
  const auto pods = static_cast<std::int64_t>(nominated);
  return job.counts.Ready() < job.spec.min_available &&
         job.counts.Ready() + pods >= job.spec.min_available;
}

// A gang of which the plan takes pods is not left with a few of them.
void AddRestOfGangs(const ClusterFeed& feed, std::vector<const objects::Pod*>& victims) {
  const WorkloadTable& workload = feed.state().workload();
  std::map<JobId, std::set<std::string>> of_job;
  for (const objects::Pod* pod : victims) {
    const auto job = workload.FindJob(GroupOf(*pod));
    if (job) of_job[*job].insert(objects::NamespacedName(pod->meta));
  }
  for (const auto& [id, going] : of_job) {
    const Job& job = workload.job(id);
    std::vector<const objects::Pod*> rest;
    for (const SubJob& sub_job : job.sub_jobs) {
      for (const TaskId task : sub_job.tasks) {
        const Task& the_task = workload.task(task);
        const bool runs =
            the_task.status == TaskStatus::kBound || the_task.status == TaskStatus::kRunning;
        if (!runs || going.contains(the_task.name)) continue;
        if (const objects::Pod* pod = feed.FindPod(the_task.name)) rest.push_back(pod);
      }
    }
    if (static_cast<std::int64_t>(rest.size()) >= job.spec.min_available) continue;
    victims.insert(victims.end(), rest.begin(), rest.end());
  }
}

// A budget is asked for all pods of a job where it selects one of them, as when the plan was made.
std::set<JobId> JobsWithBudget(const ClusterFeed& feed,
                               const std::vector<const objects::Pod*>& victims) {
  std::set<JobId> jobs;
  for (const objects::Pod* pod : victims) {
    const auto id = feed.FindTask(objects::NamespacedName(pod->meta));
    if (!id) continue;
    const Task& task = feed.state().workload().task(*id);
    if (task.disruption.budgets != 0) jobs.insert(task.job);
  }
  return jobs;
}

GangClaim MakeClaim(const Job& job, const std::vector<const objects::Pod*>& pods, Time now) {
  GangClaim claim{.job = job.spec.name,
                  .uid = job.spec.uid,
                  .shape = ShapeOf(job.spec),
                  .hypernode = "",
                  .evicts = "evictions begun earlier go on",
                  .pods = {},
                  .victims = {},
                  .since = now,
                  .recovered = true};
  for (const objects::Pod* pod : pods) {
    claim.pods.push_back(
        {objects::NamespacedName(pod->meta), pod->meta.uid, pod->status.nominated_node_name});
  }
  return claim;
}

}  // namespace

Recovery FindLeftovers(const ClusterFeed& feed, Time now) {
  Leftovers left = Collect(feed);
  const WorkloadTable& workload = feed.state().workload();
  Recovery recovery;
  for (const auto& [name, pods] : left.nominated) {
    const auto id = workload.FindJob(name);
    if (!id || !IsEnough(workload.job(*id), pods.size())) {
      for (const objects::Pod* pod : pods) {
        recovery.undo.push_back({EvictionStep::Kind::kClear, 0, NameOfPod(*pod), ""});
      }
      continue;
    }
    Recovery::Begun begun{MakeClaim(workload.job(*id), pods, now), {}};
    const std::string action = left.action[name];
    begun.order.job = name;
    begun.order.action = action;
    begun.order.reason = fmt::format("{}: {} needs room", action, name);
    for (const objects::Pod* pod : pods) {
      begun.order.nominations.push_back({NameOfPod(*pod), pod->status.nominated_node_name});
    }
    std::vector<const objects::Pod*> victims = std::exchange(left.marked[name], {});
    AddRestOfGangs(feed, victims);
    const std::set<JobId> with_budget = JobsWithBudget(feed, victims);
    for (const objects::Pod* pod : victims) {
      const std::chrono::seconds grace(
          pod->spec.grace_seconds.value_or(Disruption{}.grace_seconds));
      const Time until = (pod->meta.deleted ? *pod->meta.deleted : now + grace) + kVictimPatience;
      begun.claim.victims.push_back({objects::NamespacedName(pod->meta), pod->meta.uid, until});
      if (pod->meta.deleted) continue;
      const auto job = workload.FindJob(GroupOf(*pod));
      begun.order.victims.push_back({NameOfPod(*pod), job && with_budget.contains(*job)});
    }
    recovery.begun.push_back(std::move(begun));
  }
  for (const auto& [name, pods] : left.marked) {
    for (const objects::Pod* pod : pods) {
      if (pod->meta.deleted) continue;
      recovery.undo.push_back({EvictionStep::Kind::kUnmark, 0, NameOfPod(*pod), ""});
    }
  }
  return recovery;
}

}  // namespace strata::live
