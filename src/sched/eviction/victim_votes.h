#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sched/eviction/settings.h"
#include "sched/plugin_set.h"
#include "sched/victim_point.h"

namespace strata {

// What the plugins say about the victims of one action, combined: protections of all tiers
// together, rights tier by tier.
class VictimVotes {
 public:
  // Keeps pointers into `points`, which must outlive it.
  VictimVotes(const Points& points, const EvictionSettings& settings);

  // What kind of pod it is that nobody may evict ("not preemptable"); "" when no plugin protects
  // it.
  [[nodiscard]] std::string_view Protects(const Task& task) const;
  // True when a plugin protects the unit, now that everything that the journal evicts is gone.
  [[nodiscard]] bool SparesUnit(const VictimUnit& unit) const;
  // True when only surplus pods may go.
  [[nodiscard]] bool SparesGangs() const { return spares_gangs_; }

  // How many tiers have a plugin that decides who may be evicted for whom.
  [[nodiscard]] std::size_t tiers() const { return rights_.size(); }
  // True when every such plugin of the tier grants it.
  [[nodiscard]] bool Grants(std::size_t tier,
                            const EvictionClaim& claim,
                            const VictimUnit& unit) const;
  // False when the tier grants nothing of the jobs of this queue and priority.
  [[nodiscard]] bool MayGrant(std::size_t tier,
                              const EvictionClaim& claim,
                              QueueId queue,
                              std::int32_t priority) const;
  [[nodiscard]] std::optional<std::string> NotEntitled(std::size_t tier,
                                                       const EvictionClaim& claim) const;

 private:
  std::vector<const VictimPoint*> all_;
  std::vector<std::vector<const VictimPoint*>> rights_;  // by tier; none is empty
  bool spares_gangs_ = false;
};

}  // namespace strata
