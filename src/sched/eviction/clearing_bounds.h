#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "sched/eviction/cost.h"
#include "sched/eviction/victim_finder.h"
#include "sched/session.h"
#include "sched/shortage.h"

namespace strata {

// What clearing a HyperNode costs at least, by sums alone: so many HyperNodes need not be looked at
// more closely.
//
// What the gang lacks in a HyperNode is what it wants less what will be idle there. Lower levels of
// priority are added until their pods have that much: the level that is reached so is the lowest
// one that has to lose something. A gang of that level frees no more than the largest gang has.
class ClearingBounds {
 public:
  struct Bound {
    Cost cost;
    std::int32_t level = 0;  // the priority up to which units may be enough
    std::size_t jobs = 0;    // that have pods there
  };

  // REQUIRES: the claim was `found` in the state as it is. COST: O(candidates x chains x tiers).
  ClearingBounds(const Session& session,
                 const VictimFinder& finder,
                 const VictimFinder::Found& found,
                 const Wanted& wanted,
                 std::span<const HyperNodeId> domains);

  // None when all candidates together are not enough, or nobody runs there. REQUIRES: the HyperNode
  // is one of `domains`.
  [[nodiscard]] std::optional<Bound> Of(HyperNodeId domain, VictimOrder order) const;

 private:
  struct Domain {
    UnitPrice least;  // of its gangs, field by field
    bool has_gangs = false;
    bool has_surplus = false;
    std::size_t jobs = 0;  // parts of a job in several chains count as jobs
  };

  void ReadWanted(const Wanted& wanted);
  [[nodiscard]] bool IsOverfull() const;
  void ReadLevels(const VictimFinder::Found& found);
  void AddJob(const VictimFinder& finder, const VictimFinder::Candidate& candidate);
  // Adds so many pods of a class to the HyperNodes of a chain.
  void AddPods(ChainId chain, ClassId class_id, Amount pods, std::size_t level, bool surplus);
  void AddGang(ChainId chain, const UnitPrice& price, std::span<const Amount> total);
  [[nodiscard]] std::size_t Cell(std::size_t domain, std::size_t level) const {
    return (domain * levels_.size() + level) * resources_.size();
  }
  // The number of gangs that it takes to have this much, at least.
  [[nodiscard]] std::int64_t GangsFor(std::size_t domain, std::span<const Amount> lacking) const;

  static constexpr std::size_t kMaxLevels = 64;  // more are counted as the highest of their group

  const Session& session_;
  std::vector<ResourceId> resources_;    // that are wanted; none when sums cannot tell
  std::vector<Amount> wanted_;           // by resource
  std::vector<std::int32_t> levels_;     // priorities, ascending
  std::vector<std::uint32_t> position_;  // by HyperNode: its place in domains_
  std::vector<Domain> domains_;
  std::vector<Amount> sums_;          // by domain, level, resource: what may go
  std::vector<Amount> surplus_;       // by domain, resource: what may go without a gang
  std::vector<Amount> total_;         // of the job at hand, by resource
  std::vector<Amount> largest_gang_;  // by domain, resource: what a gang there has in all
};

}  // namespace strata
