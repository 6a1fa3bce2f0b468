#include "sched/eviction/victim_votes.h"

#include <algorithm>
#include <utility>

namespace strata {
namespace {

const std::vector<const VictimPoint*>& VotersOf(const Points::Tier& tier,
                                                const EvictionSettings& settings) {
  if (settings.by_gang) return tier.evictable;
  return settings.kind == EvictionKind::kReclaim ? tier.reclaimable : tier.preemptable;
}

}  // namespace

VictimVotes::VictimVotes(const Points& points, const EvictionSettings& settings) {
  for (const Points::Tier& tier : points.tiers) {
    std::vector<const VictimPoint*> deciding;
    for (const VictimPoint* point : VotersOf(tier, settings)) {
      all_.push_back(point);
      if (point->DecidesOn(settings.kind)) deciding.push_back(point);
    }
    if (!deciding.empty()) rights_.push_back(std::move(deciding));
  }
  spares_gangs_ = settings.by_gang ? !settings.allow_whole_gangs
                                   : std::any_of(all_.begin(), all_.end(), [](const auto* point) {
                                       return point->SparesGangs();
                                     });
}

std::string_view VictimVotes::Protects(const Task& task) const {
  for (const VictimPoint* point : all_) {
    if (const std::string_view kind = point->Protects(task); !kind.empty()) return kind;
  }
  return {};
}

bool VictimVotes::SparesUnit(const VictimUnit& unit) const {
  return std::any_of(
      all_.begin(), all_.end(), [&](const auto* point) { return point->SparesUnit(unit); });
}

bool VictimVotes::Grants(std::size_t tier,
                         const EvictionClaim& claim,
                         const VictimUnit& unit) const {
  return std::all_of(rights_[tier].begin(), rights_[tier].end(), [&](const auto* point) {
    return point->Grants(claim, unit);
  });
}

bool VictimVotes::MayGrant(std::size_t tier,
                           const EvictionClaim& claim,
                           QueueId queue,
                           std::int32_t priority) const {
  return std::all_of(rights_[tier].begin(), rights_[tier].end(), [&](const auto* point) {
    return point->MayGrant(claim, queue, priority);
  });
}

std::optional<std::string> VictimVotes::NotEntitled(std::size_t tier,
                                                    const EvictionClaim& claim) const {
  for (const VictimPoint* point : rights_[tier]) {
    if (auto why = point->NotEntitled(claim)) return why;
  }
  return std::nullopt;
}

}  // namespace strata
