#include "sched/eviction/victim_book.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <tuple>

#include "sched/eviction/cooldowns.h"
#include "sched/eviction/spare_pods.h"

namespace strata {
namespace {

bool HasPlace(const Task& task) {
  return (task.status == TaskStatus::kBound || task.status == TaskStatus::kRunning) &&
         task.node.valid();
}

bool SaysGang(const Job& job) {
  return job.spec.min_available > 0 ||
         std::any_of(job.spec.sub_groups.begin(),
                     job.spec.sub_groups.end(),
                     [](const auto& policy) { return policy.min_sub_groups > 0; });
}

// Lower task priority first, then less work lost since it started later, then higher index, then
// the name from behind: the order in which Volcano's victims come.
void SortFirstToGo(const WorkloadTable& workload, std::vector<TaskId>& pods) {
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

std::vector<VictimBook::Footprint> FootprintsOf(const ClusterState& state,
                                                const std::vector<TaskId>& pods) {
  std::vector<VictimBook::Footprint> where;
  for (const TaskId pod : pods) {
    const ChainId chain = state.tree().ChainOf(state.workload().task(pod).node);
    auto at = std::find_if(
        where.begin(), where.end(), [&](const auto& one) { return one.chain >= chain; });
    if (at == where.end() || at->chain != chain) at = where.insert(at, {.chain = chain, .pods = 0});
    ++at->pods;
  }
  return where;
}

// The first of the pods runs since then, and none of them goes before its cooldown is over.
void NoteAge(const Disruption& disruption, VictimBook::Entry& entry) {
  const Disruption::Moment since = disruption.runs_since;
  if (entry.runs_since == Disruption::Moment{} || since < entry.runs_since) {
    entry.runs_since = since;
  }
  if (since != Disruption::Moment{} && disruption.cooldown_seconds > 0) {
    entry.open_from =
        std::max(entry.open_from, Time(since) + std::chrono::seconds(disruption.cooldown_seconds));
  }
}

}  // namespace

VictimBook::Entry VictimBook::Look(const ClusterState& state, const Job& job) {
  const WorkloadTable& workload = state.workload();
  Entry entry;
  entry.queue = job.queue;
  entry.priority = job.spec.priority;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId task : sub_job.tasks) {
      if (HasPlace(workload.task(task))) entry.pods.push_back(task);
    }
  }
  if (entry.pods.empty()) return entry;
  SortFirstToGo(workload, entry.pods);
  entry.where = FootprintsOf(state, entry.pods);
  entry.has_gang = SaysGang(job);
  entry.in_flight = job.counts.Of(TaskStatus::kBinding) + job.counts.Of(TaskStatus::kAllocated) +
                        job.counts.Of(TaskStatus::kPipelined) >
                    0;
  entry.may_have_spare = MayHaveSpare(job);
  entry.unprotected = job.spec.preemptable != false;
  entry.class_id = workload.task(entry.pods.front()).class_id;
  bool all_known = true;
  ClassId counted;
  std::int64_t devices = 0;
  for (const TaskId pod : entry.pods) {
    const Task& task = workload.task(pod);
    const Disruption& disruption = task.disruption;
    if (!disruption.preemptable || disruption.critical || disruption.budgets != 0) {
      entry.unprotected = false;
    }
    if (task.class_id != entry.class_id) entry.class_id = ClassId{};
    entry.grace_seconds = std::max(entry.grace_seconds, disruption.grace_seconds);
    all_known = all_known && disruption.runs_since != Disruption::Moment{};
    NoteAge(disruption, entry);
    const Disruption::Moment start = WorkSince(disruption);
    if (start == Disruption::Moment{}) continue;
    if (task.class_id != counted || task.counts_apart) {
      counted = task.counts_apart ? ClassId{} : task.class_id;
      devices = DevicesOf(state.resource_names(), workload.CountedOf(pod));
    }
    entry.last_start = std::max(entry.last_start, start);
    entry.devices += devices;
    entry.devices_by_start += static_cast<Wide>(devices) * start.time_since_epoch().count();
  }
  if (all_known) {
    entry.open_from = std::max(entry.open_from, Time(entry.runs_since) + kDefaultCooldown);
  } else {
    entry.runs_since = Disruption::Moment{};
  }
  return entry;
}

void VictimBook::TakeOff(JobId id) {
  const Entry& entry = entries_[id.index()];
  if (entry.pods.empty()) return;
  const auto it = shelves_.find({entry.queue, entry.priority});
  Shelf& shelf = it->second;
  const JobId last = shelf.jobs.back();
  shelf.jobs[entry.place] = last;
  entries_[last.index()].place = entry.place;
  shelf.jobs.pop_back();
  shelf.pods -= entry.pods.size();
  if (!entry.unprotected) --shelf.protected_jobs;
  if (shelf.jobs.empty()) shelves_.erase(it);
}

void VictimBook::Replace(const ClusterState& state, JobId id) {
  if (id.index() >= entries_.size()) entries_.resize(id.index() + 1);
  TakeOff(id);
  const Job& job = state.workload().job(id);
  entries_[id.index()] = job.alive ? Look(state, job) : Entry{};
  Entry& entry = entries_[id.index()];
  if (entry.pods.empty()) return;
  Shelf& shelf = shelves_[{entry.queue, entry.priority}];
  entry.place = static_cast<std::uint32_t>(shelf.jobs.size());
  shelf.jobs.push_back(id);
  shelf.pods += entry.pods.size();
  if (!entry.unprotected) ++shelf.protected_jobs;
  shelf.open_from = std::max(shelf.open_from, entry.open_from);
}

void VictimBook::Refresh(const ClusterState& state) {
  const WorkloadTable& workload = state.workload();
  // Chains and classes are numbered anew when the tree or the classes are.
  const bool as_before =
      tree_version_ == state.tree().version() && class_epoch_ == state.classes().epoch();
  const auto touched = workload.JobsTouchedSince(seen_);
  if (as_before && touched) {
    for (const JobId id : *touched) Replace(state, id);
  } else {
    entries_.clear();
    shelves_.clear();
    for (const JobId id : workload.jobs()) Replace(state, id);
  }
  seen_ = workload.NextJobVersion();
  tree_version_ = state.tree().version();
  class_epoch_ = state.classes().epoch();
}

std::optional<Time> VictimBook::NextOpening(const WorkloadTable& workload, Time now) const {
  std::optional<Time> next;
  const auto consider = [&](Disruption::Moment since, std::chrono::seconds cooldown) {
    const Time end = Time(since) + cooldown;
    if (since != Disruption::Moment{} && end > now) next = std::min(next.value_or(end), end);
  };
  for (const auto& [key, shelf] : shelves_) {
    if (shelf.open_from <= now) continue;
    for (const JobId job : shelf.jobs) {
      const Entry& entry = at(job);
      if (entry.open_from <= now) continue;
      consider(entry.runs_since, kDefaultCooldown);
      for (const TaskId pod : entry.pods) {
        const Disruption& disruption = workload.task(pod).disruption;
        const std::chrono::seconds own(disruption.cooldown_seconds);
        consider(entry.runs_since, own);
        consider(disruption.runs_since, own);
      }
    }
  }
  return next;
}

UnitPrice VictimBook::PriceOfAll(const ClusterState& state, JobId id, Time now) const {
  const Entry& entry = at(id);
  if (Time(entry.last_start) > now) {
    return PriceOf(state, {.kind = VictimUnit::Kind::kGang, .job = id, .tasks = entry.pods}, now);
  }
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  const Wide lost = entry.devices * seconds - entry.devices_by_start;
  constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
  return {.priority = entry.priority,
          .pods = static_cast<std::int64_t>(entry.pods.size()),
          .lost_work = static_cast<std::int64_t>(std::min(lost, kMost)),
          .grace_seconds = entry.grace_seconds};
}

}  // namespace strata
