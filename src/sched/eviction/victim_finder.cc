#include "sched/eviction/victim_finder.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sched/eviction/cooldowns.h"

namespace strata {
namespace {

bool IsKnown(Disruption::Moment moment) {
  return moment != Disruption::Moment{};
}

}  // namespace

VictimFinder::VictimFinder(Session& session, const EvictionSettings& settings)
    : session_(session),
      votes_(session.plugins().points(), settings),
      book_(session.caches().victims()) {}

std::string VictimFinder::WhyKept(const Task& task, const VictimBook::Entry& entry) const {
  const Disruption& disruption = task.disruption;
  if (session_.state().workload().job(task.job).spec.preemptable == false ||
      !disruption.preemptable) {
    return "not preemptable";
  }
  if (const std::string_view kind = votes_.Protects(task); !kind.empty()) return std::string(kind);
  if (!IsKnown(entry.runs_since)) return "";
  const Time began(entry.runs_since);
  if (began + std::chrono::seconds(disruption.cooldown_seconds) > session_.now()) {
    return std::string(kInCooldown);
  }
  if (began + kDefaultCooldown > session_.now()) {
    return fmt::format("of jobs in their first {} s", kDefaultCooldown.count());
  }
  return "";
}

bool VictimFinder::IsOpen(const VictimBook::Entry& entry) const {
  return entry.unprotected && entry.open_from <= session_.now();
}

void VictimFinder::AddOpen(JobId job, Found& found) const {
  const WorkloadTable& workload = session_.state().workload();
  const VictimBook::Entry& entry = book_.at(job);
  std::span<const TaskId> open = entry.pods;
  if (!IsOpen(entry)) {
    std::vector<TaskId> some;
    std::copy_if(entry.pods.begin(), entry.pods.end(), std::back_inserter(some), [&](TaskId pod) {
      return WhyKept(workload.task(pod), entry).empty();
    });
    if (some.empty()) return;
    open = found.lists.emplace_back(std::move(some));
  }
  const VictimUnit gang{.kind = VictimUnit::Kind::kGang, .job = job, .tasks = open};
  const bool breakable = open.size() == entry.pods.size() && !entry.in_flight &&
                         !votes_.SparesGangs() && entry.has_gang &&
                         (entry.unprotected || !votes_.SparesUnit(gang));
  found.candidates.push_back({.job = job, .whole = breakable, .open = open});
}

const char* VictimFinder::WithoutRight(EvictionKind kind) {
  return kind == EvictionKind::kPreempt ? "of jobs without lower priority"
                                        : "of queues within what they deserve";
}

std::optional<std::string> VictimFinder::OutOfReach(const EvictionClaim& claim,
                                                    QueueId queue) const {
  const WorkloadTable& workload = session_.state().workload();
  const QueueId own = workload.job(claim.job).queue;
  const bool preempts = claim.kind == EvictionKind::kPreempt;
  if (claim.kind == EvictionKind::kWithinJob) return "";
  if (!queue.valid() || (queue == own) != preempts) return "";
  if (!preempts && !workload.queue(queue).spec.reclaimable) {
    return "of queues that are not reclaimable";
  }
  return std::nullopt;
}

bool VictimFinder::IsGranted(std::size_t tier,
                             const EvictionClaim& claim,
                             const Candidate& candidate) const {
  const VictimUnit gang{
      .kind = VictimUnit::Kind::kGang, .job = candidate.job, .tasks = candidate.open};
  if (votes_.Grants(tier, claim, gang)) return true;
  return std::any_of(candidate.open.begin(), candidate.open.end(), [&](const TaskId& task) {
    return votes_.Grants(
        tier,
        claim,
        {.kind = VictimUnit::Kind::kSurplus, .job = candidate.job, .tasks = std::span(&task, 1)});
  });
}

void VictimFinder::AddOwn(const EvictionClaim& claim, Found& found) const {
  if (book_.PodsOf(claim.job) == 0) return;
  AddOpen(claim.job, found);
  for (Candidate& candidate : found.candidates) {
    candidate.whole = false;
    candidate.own = true;
  }
}

void VictimFinder::AddOthers(std::size_t tier, const EvictionClaim& claim, Found& found) const {
  for (const auto& [key, shelf] : book_.shelves()) {
    const auto& [queue, priority] = key;
    if (OutOfReach(claim, queue) || !votes_.MayGrant(tier, claim, queue, priority)) continue;
    for (const JobId job : shelf.jobs) {
      if (job != claim.job) AddOpen(job, found);
    }
  }
}

VictimFinder::Found VictimFinder::For(const EvictionClaim& claim) {
  book_.Refresh(session_.state());
  Found found;
  for (std::size_t tier = 0; tier < votes_.tiers(); ++tier) {
    found.tier = tier;
    if (claim.kind == EvictionKind::kWithinJob) {
      AddOwn(claim, found);
    } else {
      AddOthers(tier, claim, found);
    }
    const bool granted =
        std::any_of(found.candidates.begin(), found.candidates.end(), [&](const Candidate& one) {
          return IsGranted(tier, claim, one);
        });
    if (granted) return found;
    found.candidates.clear();
    found.lists.clear();
  }
  return found;
}

std::string VictimFinder::WhyAllKept(JobId job) const {
  const VictimBook::Entry& entry = book_.at(job);
  if (!IsOpen(entry)) {
    for (const TaskId pod : entry.pods) {
      std::string kind = WhyKept(session_.state().workload().task(pod), entry);
      if (!kind.empty()) return kind;
    }
  }
  const VictimUnit gang{.kind = VictimUnit::Kind::kGang, .job = job, .tasks = entry.pods};
  const bool spared = !entry.unprotected && votes_.SparesUnit(gang);
  return spared ? "that a disruption budget protects" : "";
}

std::optional<std::span<const TaskId>> VictimFinder::AllMayGo(JobId job) const {
  const VictimBook::Entry& entry = book_.at(job);
  if (entry.pods.empty() || entry.in_flight || !WhyAllKept(job).empty()) return std::nullopt;
  return entry.pods;
}

std::map<JobId, std::string> VictimFinder::JobsThatStay() {
  book_.Refresh(session_.state());
  std::map<JobId, std::string> stay;
  for (const auto& [place, shelf] : book_.shelves()) {
    for (const JobId job : shelf.jobs) {
      if (std::string kind = WhyAllKept(job); !kind.empty()) stay.emplace(job, std::move(kind));
    }
  }
  return stay;
}

std::size_t VictimFinder::CountKept(JobId job, std::map<std::string, std::size_t>& kept) const {
  const VictimBook::Entry& entry = book_.at(job);
  std::size_t open = entry.pods.size();
  if (IsOpen(entry)) return open;
  for (const TaskId pod : entry.pods) {
    const std::string kind = WhyKept(session_.state().workload().task(pod), entry);
    if (kind.empty()) continue;
    ++kept[kind];
    --open;
  }
  return open;
}

std::size_t VictimFinder::PodsOfOthers(const EvictionClaim& claim,
                                       const std::pair<QueueId, std::int32_t>& place,
                                       const VictimBook::Shelf& shelf) const {
  const Job& job = session_.state().workload().job(claim.job);
  const bool own = place == std::pair(job.queue, job.spec.priority);
  return shelf.pods - std::min(shelf.pods, own ? book_.PodsOf(claim.job) : 0);
}

std::map<std::string, std::size_t> VictimFinder::Kept(const EvictionClaim& claim,
                                                      const Found& found) const {
  std::set<JobId> granted;
  for (const Candidate& candidate : found.candidates) {
    if (IsGranted(found.tier, claim, candidate)) granted.insert(candidate.job);
  }
  std::map<std::string, std::size_t> kept;
  for (const auto& [key, shelf] : book_.shelves()) {
    const auto why = OutOfReach(claim, key.first);
    if (why && why->empty()) continue;
    if (why || (granted.empty() && shelf.IsOpen(session_.now()))) {
      const std::size_t pods = PodsOfOthers(claim, key, shelf);
      if (pods > 0) kept[why.value_or(WithoutRight(claim.kind))] += pods;
      continue;
    }
    for (const JobId job : shelf.jobs) {
      const std::size_t open = job == claim.job ? 0 : CountKept(job, kept);
      const std::size_t without_right = granted.contains(job) ? 0 : open;
      if (without_right > 0) kept[WithoutRight(claim.kind)] += without_right;
    }
  }
  return kept;
}

std::vector<VictimFinder::Protected> VictimFinder::ProtectedFrom(const EvictionClaim& claim,
                                                                 const Found& found) const {
  std::vector<Protected> all;
  for (const auto& [key, shelf] : book_.shelves()) {
    const auto& [queue, priority] = key;
    const auto out_of_reach = OutOfReach(claim, queue);
    if (out_of_reach && out_of_reach->empty()) continue;
    if (!out_of_reach && !votes_.MayGrant(found.tier, claim, queue, priority)) continue;
    for (const JobId job : shelf.jobs) {
      if (job == claim.job) continue;
      std::map<std::string, std::size_t> kept;
      if (out_of_reach) {
        kept[*out_of_reach] = book_.PodsOf(job);
      } else {
        static_cast<void>(CountKept(job, kept));
      }
      for (const auto& [kind, pods] : kept) all.push_back({job, kind, pods});
    }
  }
  return all;
}

}  // namespace strata
