#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "model/resources.h"
#include "model/workload.h"
#include "sched/need.h"

// The extension point of eviction. Like the points of extension.h: every method is a question.
//
// Plugins say two different things. A *protection* keeps a pod from being evicted by anybody; it
// holds whatever the tier of its plugin. A *right* lets one job take from another; the first tier
// that grants a claim any victim decides about it.
namespace strata {

// Whom an action may evict for a job: other jobs of its queue, jobs of other queues, or pods of the
// job itself.
enum class EvictionKind : std::uint8_t { kPreempt, kReclaim, kWithinJob };

// What a job loses in one piece: one pod beyond every minimum of its gang, or the whole gang
// wherever it runs.
struct VictimUnit {
  enum class Kind : std::uint8_t { kSurplus, kGang } kind = Kind::kSurplus;
  JobId job;
  std::span<const TaskId> tasks;  // must outlive the unit
};

// A job that asks for room that others hold.
struct EvictionClaim {
  EvictionKind kind = EvictionKind::kPreempt;
  JobId job;
  Need need;                          // what its gang still lacks
  std::vector<ResourceId> contested;  // what of that must be taken from others; never pods
  std::int32_t task_priority = 0;     // with kWithinJob: the lowest of the tasks that ask
};

// A kind of pod, for sentences.
inline constexpr std::string_view kInCooldown = "in their cooldown";

class VictimPoint {
 public:
  virtual ~VictimPoint() = default;

  // ---- protections
  // What kind of pod this is that nobody may evict ("of the system"); "" when the plugin does not
  // protect it.
  [[nodiscard]] virtual std::string_view Protects(const Task& task) const;
  // True when the unit may not go, now that everything that the journal evicts is gone.
  [[nodiscard]] virtual bool SparesUnit(const VictimUnit& unit) const;
  // True when preempt and reclaim may take surplus pods alone, never a whole gang.
  [[nodiscard]] virtual bool SparesGangs() const { return false; }

  // ---- rights
  // True when the plugin says who may be evicted for whom by this kind of eviction.
  [[nodiscard]] virtual bool DecidesOn(EvictionKind kind) const;
  // True when the claim may take the unit, now that everything that the journal evicts is gone.
  // REQUIRES: DecidesOn the kind of the claim.
  [[nodiscard]] virtual bool Grants(const EvictionClaim& claim, const VictimUnit& unit) const;
  // False when the claim may take nothing of the jobs of this queue and priority, whatever they
  // are. REQUIRES: DecidesOn the kind of the claim.
  [[nodiscard]] virtual bool MayGrant(const EvictionClaim& claim,
                                      QueueId queue,
                                      std::int32_t priority) const;
  // Why the claim may take nothing at all; none when it may. REQUIRES: DecidesOn its kind.
  [[nodiscard]] virtual std::optional<std::string> NotEntitled(const EvictionClaim& claim) const;
};

}  // namespace strata
