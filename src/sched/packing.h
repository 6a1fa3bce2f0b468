#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "model/resources.h"
#include "sched/gang_search.h"

namespace strata {

// Pods of a few kinds, and nodes with what is free on them, as plain numbers.
struct PackingProblem {
  struct Node {
    std::vector<Amount> free;          // by resource
    std::vector<std::uint32_t> slots;  // by kind: how many it takes when it takes no others

    auto operator<=>(const Node&) const = default;
  };
  std::vector<std::vector<Amount>> requests;  // by kind and resource
  std::vector<Node> nodes;
};

// Finds places for so many pods of each kind, if there are any: exact, unless the budget cuts it.
//
// Takes node by node, and for each node every set of pods that leaves no room for one more. What
// remains to be placed behind a node either fits on the nodes that follow or does not, however it
// came about, so each remainder is tried once per node.
//
// COST: one step per set of pods tried. REQUIRES: the problem outlives it.
class Packing {
 public:
  using Counts = std::vector<std::uint32_t>;  // by kind

  Packing(const PackingProblem& problem, StepBudget& budget);

  // By node the pods of each kind that it takes; none when they do not fit, or when it was cut.
  [[nodiscard]] std::optional<std::vector<Counts>> Solve(const Counts& wanted);

 private:
  // Whether `rest` may fit on the nodes from `node` on, as far as sums can tell.
  [[nodiscard]] bool MayFit(std::size_t node, const Counts& rest) const;
  [[nodiscard]] bool PlaceFrom(std::size_t node, Counts& rest);
  // Tries every number of pods of `kind`, and of the kinds after it, on the node.
  [[nodiscard]] bool Fill(std::size_t node, std::size_t kind, Counts& rest);
  [[nodiscard]] bool HasRoomForOneMore(std::size_t node, const Counts& rest) const;
  [[nodiscard]] std::uint32_t Fits(std::size_t node, std::size_t kind) const;
  void Take(std::size_t node, std::size_t kind, std::int64_t count);

  const PackingProblem& problem_;
  StepBudget& budget_;
  std::vector<std::vector<Amount>> free_;          // by node and resource, of the search at hand
  std::vector<Counts> placed_;                     // by node
  std::vector<std::vector<std::uint64_t>> slots_;  // from a node on, by kind
  std::vector<std::vector<Amount>> sums_;          // from a node on, by resource
  std::set<std::pair<std::size_t, Counts>> in_vain_;
};

}  // namespace strata
