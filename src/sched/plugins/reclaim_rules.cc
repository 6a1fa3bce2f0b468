#include "sched/plugins/reclaim_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/amount_format.h"
#include "sched/plugins/queue_rules.h"

namespace strata {

namespace {

bool IsIn(const std::vector<QueueId>& line, QueueId queue) {
  return std::find(line.begin(), line.end(), queue) != line.end();
}

// A contested resource of which the queue would have more than it deserves.
std::optional<ResourceId> TooMuchFor(const EvictionClaim& claim,
                                     QueueId queue,
                                     const ReclaimRules& rules) {
  for (const ResourceId id : claim.contested) {
    const QueuePart part = rules.part_of(queue, id);
    const auto asked = static_cast<double>(claim.need.counted().Get(id));
    if (part.has + asked > part.deserved + ToleranceOf(id)) return id;
  }
  return std::nullopt;
}

// The first of its line by which the claimant may reclaim; none when there is none.
QueueId EntitledBy(const EvictionClaim& claim,
                   const std::vector<QueueId>& line,
                   const ReclaimRules& rules) {
  const auto it = std::find_if(
      line.begin(), line.end(), [&](QueueId queue) { return !TooMuchFor(claim, queue, rules); });
  return it == line.end() ? QueueId{} : *it;
}

bool KeepsGuarantee(QueueId queue, const Resources& amounts, const ReclaimRules& rules) {
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const auto id = IdAt<ResourceId>(i);
    if (id == kPods || amounts.Get(id) <= 0) continue;
    const QueuePart part = rules.part_of(queue, id);
    const double left = part.has - static_cast<double>(amounts.Get(id));
    if (part.guarantee > 0 && left < part.guarantee - ToleranceOf(id)) return false;
  }
  return true;
}

}  // namespace

bool MayReclaim(const ClusterState& state,
                const EvictionClaim& claim,
                const VictimUnit& unit,
                const ReclaimRules& rules) {
  std::vector<QueueId> line = rules.line_of(state.workload().job(unit.job).queue);
  const std::vector<QueueId> others = rules.line_of(state.workload().job(claim.job).queue);
  // What a branch is entitled to, it does not take from itself.
  if (others.size() > 1) {
    const QueueId entitled = EntitledBy(claim, others, rules);
    if (entitled.valid() && IsIn(line, entitled)) return false;
  }
  std::erase_if(line, [&](QueueId queue) { return IsIn(others, queue); });
  Resources amounts;
  for (const TaskId id : unit.tasks) {
    amounts.AddSaturating(state.workload().CountedOf(id));
  }
  const auto keeps = [&](QueueId queue) { return KeepsGuarantee(queue, amounts, rules); };
  if (!std::all_of(line.begin(), line.end(), keeps)) return false;
  return std::any_of(claim.contested.begin(), claim.contested.end(), [&](ResourceId id) {
    const auto amount = static_cast<double>(amounts.Get(id));
    if (amount <= 0) return false;
    return std::all_of(line.begin(), line.end(), [&](QueueId queue) {
      const QueuePart part = rules.part_of(queue, id);
      return unit.kind == VictimUnit::Kind::kSurplus
                 ? part.has - amount >= part.deserved - ToleranceOf(id)
                 : part.has > part.deserved + ToleranceOf(id);
    });
  });
}

bool HasTooMuch(const EvictionClaim& claim, QueueId queue, const ReclaimRules& rules) {
  return std::any_of(claim.contested.begin(), claim.contested.end(), [&](ResourceId id) {
    const QueuePart part = rules.part_of(queue, id);
    return part.has > part.deserved + ToleranceOf(id);
  });
}

std::optional<std::string> WhyNotReclaim(const ClusterState& state,
                                         const EvictionClaim& claim,
                                         const ReclaimRules& rules) {
  const QueueId queue = state.workload().job(claim.job).queue;
  if (EntitledBy(claim, rules.line_of(queue), rules).valid()) return std::nullopt;
  const ResourceId id = *TooMuchFor(claim, queue, rules);
  const QueuePart part = rules.part_of(queue, id);
  const std::string& name = state.resource_names().name(id);
  return fmt::format("queue {} may not reclaim {}: {} in use, it deserves {}",
                     state.workload().queue(queue).spec.name,
                     FormatAmount(name, claim.need.counted().Get(id)),
                     FormatNumber(name, ToAmount(part.has)),
                     FormatNumber(name, ToAmount(part.deserved)));
}

}  // namespace strata
