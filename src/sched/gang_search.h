#pragma once

#include <cstddef>
#include <cstdint>

namespace strata {

// Arguments of the plugin network-topology-aware.
inline constexpr const char* kSecondMaxSteps = "hypernode.search.second.max-steps";
inline constexpr const char* kFewLeaves = "hypernode.search.fewest-leaves.enable";
inline constexpr const char* kRankOrder = "hypernode.search.rank-order.enable";

// What a scheduler without a configuration file uses.
inline constexpr std::int64_t kDefaultSecondMaxSteps = 20000;

// How far the search of a gang goes beyond the greedy one. As it stands here: not at all.
struct GangSearchSettings {
  // Steps of the second search for one job in one pass; 0: there is none.
  std::uint64_t second_budget = 0;
  bool fewest_leaves = false;  // of gangs of equal pods
  bool rank_order = false;     // neighbours by rank are near
};

// Work that a search may do, counted in steps, which are the same on every machine.
class StepBudget {
 public:
  explicit StepBudget(std::uint64_t steps) : steps_(steps) {}

  // False, from then on, when fewer than `steps` are left.
  [[nodiscard]] bool Spend(std::uint64_t steps) {
    if (cut_ || steps > steps_ - spent_) {
      cut_ = true;
      return false;
    }
    spent_ += steps;
    return true;
  }
  void GiveUp() { cut_ = true; }
  [[nodiscard]] bool cut() const { return cut_; }
  [[nodiscard]] std::uint64_t spent() const { return spent_; }

 private:
  std::uint64_t steps_;
  std::uint64_t spent_ = 0;
  bool cut_ = false;
};

}  // namespace strata
