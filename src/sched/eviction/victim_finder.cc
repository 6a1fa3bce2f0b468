#include "sched/eviction/victim_finder.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sched/eviction/cooldowns.h"

namespace strata {
namespace {

bool Runs(const Task& task) {
  return (task.status == TaskStatus::kBound || task.status == TaskStatus::kRunning) &&
         task.node.valid();
}

bool IsKnown(Disruption::Moment moment) {
  return moment != Disruption::Moment{};
}

// Without a minimum there is no gang to break: every pod is surplus.
bool HasGang(const Job& job) {
  return job.spec.min_available > 0 ||
         std::any_of(job.spec.sub_groups.begin(),
                     job.spec.sub_groups.end(),
                     [](const auto& policy) { return policy.min_sub_groups > 0; });
}

// Since when the first of the pods runs; the epoch when that is not known of one of them.
Time RunsSince(const WorkloadTable& workload, const std::vector<TaskId>& pods) {
  Disruption::Moment first{};
  for (const TaskId id : pods) {
    const Disruption::Moment since = workload.task(id).disruption.runs_since;
    if (!IsKnown(since)) return Time{};
    if (!IsKnown(first) || since < first) first = since;
  }
  return Time(first);
}

}  // namespace

VictimFinder::VictimFinder(const Session& session, const EvictionSettings& settings)
    : session_(session), votes_(session.plugins().points(), settings) {}

std::string VictimFinder::WhyKept(const Task& task, Time job_runs_since) const {
  const Disruption& disruption = task.disruption;
  if (!disruption.preemptable) return "not preemptable";
  if (const std::string_view kind = votes_.Protects(task); !kind.empty()) return std::string(kind);
  const std::chrono::seconds cooldown(disruption.cooldown_seconds);
  if (IsKnown(disruption.runs_since) && Time(disruption.runs_since) + cooldown > session_.now()) {
    return "in their cooldown";
  }
  if (job_runs_since != Time{} && job_runs_since + kDefaultCooldown > session_.now()) {
    return fmt::format("of jobs in their first {} s", kDefaultCooldown.count());
  }
  return "";
}

VictimFinder::RunningJob VictimFinder::Look(JobId id) const {
  const WorkloadTable& workload = session_.state().workload();
  const Job& job = workload.job(id);
  RunningJob running;
  running.job = id;
  running.in_flight = job.counts.Of(TaskStatus::kBinding) + job.counts.Of(TaskStatus::kAllocated) +
                          job.counts.Of(TaskStatus::kPipelined) >
                      0;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId task : sub_job.tasks) {
      if (Runs(workload.task(task))) running.pods.push_back(task);
    }
  }
  const bool says_no = job.spec.preemptable == false;
  const Time since = RunsSince(workload, running.pods);
  for (const TaskId task : running.pods) {
    const std::string why = says_no ? "not preemptable" : WhyKept(workload.task(task), since);
    if (why.empty()) {
      running.open.push_back(task);
    } else {
      ++running.kept[why];
    }
  }
  SortOpen(running.open);
  return running;
}

// Lower task priority first, then less work lost since it started later, then higher index, then
// the name from behind: the order in which Volcano's victims come.
void VictimFinder::SortOpen(std::vector<TaskId>& pods) const {
  const WorkloadTable& workload = session_.state().workload();
  std::sort(pods.begin(), pods.end(), [&](TaskId a, TaskId b) {
    const Task& left = workload.task(a);
    const Task& right = workload.task(b);
    return std::tie(left.priority,
                    right.disruption.runs_since,
                    right.index,
                    right.created,
                    right.uid,
                    right.name) < std::tie(right.priority,
                                           left.disruption.runs_since,
                                           left.index,
                                           left.created,
                                           left.uid,
                                           left.name);
  });
}

void VictimFinder::Collect() {
  collected_ = true;
  const WorkloadTable& workload = session_.state().workload();
  for (const JobId id : workload.jobs()) {
    const TaskCounts& counts = workload.job(id).counts;
    if (counts.Of(TaskStatus::kBound) + counts.Of(TaskStatus::kRunning) == 0) continue;
    running_.push_back(Look(id));
  }
  std::stable_sort(running_.begin(), running_.end(), [&](const auto& a, const auto& b) {
    return workload.job(a.job).spec.priority < workload.job(b.job).spec.priority;
  });
}

const char* VictimFinder::WithoutRight(EvictionKind kind) {
  return kind == EvictionKind::kPreempt ? "of jobs without lower priority"
                                        : "of queues within what they deserve";
}

void VictimFinder::Refresh(JobId job) {
  const auto known = std::find_if(running_.begin(), running_.end(), [&](const RunningJob& running) {
    return running.job == job;
  });
  if (known != running_.end()) *known = Look(job);
}

std::optional<std::string> VictimFinder::OutOfReach(const EvictionClaim& claim,
                                                    const Job& victim) const {
  const WorkloadTable& workload = session_.state().workload();
  const QueueId own = workload.job(claim.job).queue;
  const bool preempts = claim.kind == EvictionKind::kPreempt;
  if (!victim.queue.valid() || (victim.queue == own) != preempts) return "";
  if (!preempts && !workload.queue(victim.queue).spec.reclaimable) {
    return "of queues that are not reclaimable";
  }
  return std::nullopt;
}

bool VictimFinder::IsGranted(std::size_t tier,
                             const EvictionClaim& claim,
                             const RunningJob& running) const {
  const VictimUnit gang{.kind = VictimUnit::Kind::kGang, .job = running.job, .tasks = running.open};
  if (votes_.Grants(tier, claim, gang)) return true;
  return std::any_of(running.open.begin(), running.open.end(), [&](TaskId task) {
    return votes_.Grants(
        tier, claim, {.kind = VictimUnit::Kind::kSurplus, .job = running.job, .tasks = {task}});
  });
}

std::vector<const VictimFinder::RunningJob*> VictimFinder::Reachable(
    const EvictionClaim& claim, std::map<std::string, std::size_t>& kept) const {
  std::vector<const RunningJob*> reachable;
  for (const RunningJob& running : running_) {
    if (running.job == claim.job) continue;
    const auto why = OutOfReach(claim, session_.state().workload().job(running.job));
    if (why && !why->empty()) kept[*why] += running.pods.size();
    if (why) continue;
    for (const auto& [kind, pods] : running.kept) kept[kind] += pods;
    if (!running.open.empty()) reachable.push_back(&running);
  }
  return reachable;
}

VictimFinder::Found VictimFinder::For(const EvictionClaim& claim) {
  if (!collected_) Collect();
  const WorkloadTable& workload = session_.state().workload();
  Found found;
  const std::vector<const RunningJob*> reachable = Reachable(claim, found.kept);
  for (std::size_t tier = 0; tier < votes_.tiers() && found.candidates.empty(); ++tier) {
    found.tier = tier;
    for (const RunningJob* running : reachable) {
      if (!IsGranted(tier, claim, *running)) continue;
      const bool complete = running->open.size() == running->pods.size();
      const bool breakable = complete && !running->in_flight && !votes_.SparesGangs() &&
                             HasGang(workload.job(running->job));
      found.candidates.push_back({.job = running->job, .whole = breakable, .open = running->open});
    }
  }
  std::size_t next = 0;  // candidates are in the order of `reachable`
  for (const RunningJob* running : reachable) {
    if (next < found.candidates.size() && found.candidates[next].job == running->job) {
      ++next;
    } else {
      found.kept[WithoutRight(claim.kind)] += running->open.size();
    }
  }
  return found;
}

}  // namespace strata
