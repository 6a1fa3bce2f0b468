#include "sched/eviction/relief.h"

#include <cstddef>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "sched/eviction/who_stays.h"

namespace strata {

void EvictionRelief::ReadActions() {
  read_ = true;
  for (const ActionConfig& action : session_.actions()) {
    if (!IsEvictionAction(action.name)) continue;
    auto read = ReadEvictionSettings(action);
    CHECK(read.has_value());  // Scheduler::Make has read it, too
    if (read->settings.dry_run) continue;
    actions_.push_back({action.name, read->settings.kind, VictimFinder(session_, read->settings)});
  }
}

EvictionClaim EvictionRelief::ClaimOf(const Job& job, JobId id) const {
  EvictionClaim claim{
      .kind = EvictionKind::kPreempt,
      .job = id,
      .need = {.room = *job.spec.min_resources, .apart = *Minimum(session_.state(), job)},
      .contested = {}};
  for (std::size_t i = 0; i < claim.need.room.size(); ++i) {
    const auto resource = IdAt<ResourceId>(i);
    if (resource != kPods && claim.need.room.Get(resource) > 0) claim.contested.push_back(resource);
  }
  return claim;
}

Relief EvictionRelief::For(JobId id) {
  if (!read_) ReadActions();
  if (actions_.empty()) return {};
  const ClusterState& state = session_.state();
  const Job& job = state.workload().job(id);
  EvictionClaim claim = ClaimOf(job, id);
  Relief relief;
  std::set<TaskId> counted;  // several actions may reach the same pods
  for (Action& action : actions_) {
    claim.kind = action.kind;
    const VictimFinder::Found found = action.finder.For(claim);
    for (const VictimFinder::Candidate& candidate : found.candidates) {
      if (!action.finder.IsGranted(found.tier, claim, candidate)) continue;
      for (const TaskId task : candidate.open) {
        if (!counted.insert(task).second) continue;
        const Resources& amounts = state.workload().CountedOf(task);
        relief.in_all.AddSaturating(amounts);
        if (claim.kind == EvictionKind::kPreempt) relief.own_queue.AddSaturating(amounts);
      }
    }
  }
  return relief;
}

const std::string& EvictionRelief::WhoIsProtected(JobId id) {
  if (!read_) ReadActions();
  const Job& job = session_.state().workload().job(id);
  const auto [known, is_new] = protected_.try_emplace(std::pair(job.queue, job.spec.priority));
  if (!is_new || actions_.empty()) return known->second;
  EvictionClaim claim = ClaimOf(job, id);
  std::vector<std::string> parts;
  for (Action& action : actions_) {
    claim.kind = action.kind;
    const VictimFinder::Found found = action.finder.For(claim);
    auto kept = action.finder.Kept(claim, found);
    kept.erase(VictimFinder::WithoutRight(claim.kind));
    if (kept.empty()) continue;
    parts.push_back(fmt::format("{}: it may evict nobody: {}",
                                action.name,
                                WhoStays(session_.state(), action.finder, claim, found)));
  }
  known->second = fmt::format("{}", fmt::join(parts, "; "));
  return known->second;
}

std::optional<Time> EvictionRelief::GrowsAt() {
  if (!read_) ReadActions();
  if (actions_.empty()) return std::nullopt;
  VictimBook& book = session_.caches().victims();
  book.Refresh(session_.state());
  return book.NextOpening(session_.state().workload(), session_.now());
}

}  // namespace strata
