#include "sched/plugins/reclaim_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/amount_format.h"
#include "sched/plugins/queue_rules.h"

namespace strata {

bool MayReclaim(const ClusterState& state,
                const EvictionClaim& claim,
                const VictimUnit& unit,
                const PartOf& part_of) {
  const QueueId queue = state.workload().job(unit.job).queue;
  Resources amounts;
  for (const TaskId id : unit.tasks) {
    amounts.AddSaturating(state.classes().spec(state.workload().task(id).class_id).request);
  }
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const auto id = IdAt<ResourceId>(i);
    if (id == kPods || amounts.Get(id) <= 0) continue;
    const QueuePart part = part_of(queue, id);
    const double left = part.has - static_cast<double>(amounts.Get(id));
    if (part.guarantee > 0 && left < part.guarantee - ToleranceOf(id)) return false;
  }
  return std::any_of(claim.contested.begin(), claim.contested.end(), [&](ResourceId id) {
    const auto amount = static_cast<double>(amounts.Get(id));
    if (amount <= 0) return false;
    const QueuePart part = part_of(queue, id);
    return unit.kind == VictimUnit::Kind::kSurplus
               ? part.has - amount >= part.deserved - ToleranceOf(id)
               : part.has > part.deserved + ToleranceOf(id);
  });
}

std::optional<std::string> WhyNotReclaim(const ClusterState& state,
                                         const EvictionClaim& claim,
                                         const PartOf& part_of) {
  const QueueId queue = state.workload().job(claim.job).queue;
  for (const ResourceId id : claim.contested) {
    const QueuePart part = part_of(queue, id);
    const Amount asked = claim.need.Get(id);
    if (part.has + static_cast<double>(asked) <= part.deserved + ToleranceOf(id)) continue;
    const std::string& name = state.resource_names().name(id);
    return fmt::format("queue {} may not reclaim {}: {} in use, it deserves {}",
                       state.workload().queue(queue).spec.name,
                       FormatAmount(name, asked),
                       FormatNumber(name, ToAmount(part.has)),
                       FormatNumber(name, ToAmount(part.deserved)));
  }
  return std::nullopt;
}

}  // namespace strata
