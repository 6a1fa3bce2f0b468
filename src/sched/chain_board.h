#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "sched/domain_index.h"
#include "sched/extension.h"
#include "sched/score.h"

namespace strata {

// The chains of a domain for one class of tasks, those that score alike taken together (a kind).
// Between two pods of a gang one chain changes; the others need not be looked at again.
class ChainBoard {
 public:
  ChainBoard(const HyperNodeTree& tree, const DomainShape& shape) : tree_(tree), shape_(shape) {}

  // Starts anew. `groups` is parallel to the groups of the shape; their `feasible` is not read.
  // COST: O(groups).
  void Reset(const DomainIndex& index, std::span<const ChainGroup> groups);
  // The group changed, in the index or by itself. COST: O(log groups).
  void Refresh(const DomainIndex& index, const ChainGroup& group, std::size_t g);

  // One entry per kind, its `feasible` the sum over its groups.
  [[nodiscard]] std::span<const ChainGroup> kinds() const { return kinds_; }
  [[nodiscard]] std::size_t KindOf(std::size_t g) const { return states_[g].kind; }
  // The group with the best node by node-local score, of equal ones the lower name. REQUIRES: the
  // kind has feasible nodes.
  [[nodiscard]] std::size_t BestOf(std::size_t kind);

 private:
  // Outside of all HyperNodes, tier of the LCA, the same as what is allocated, tasks on the leaf.
  using Key = std::tuple<bool, std::int32_t, bool, std::uint32_t>;
  // The best node of a group at some moment.
  struct Offer {
    Score score = kNoScore;
    std::uint32_t name_rank = 0;
    std::uint32_t group = 0;

    friend bool operator==(const Offer&, const Offer&) = default;
  };
  struct Worse {
    bool operator()(const Offer& a, const Offer& b) const {
      return a.score != b.score ? a.score < b.score : a.name_rank > b.name_rank;
    }
  };
  struct GroupState {
    std::size_t kind = 0;
    std::uint32_t feasible = 0;
    Offer offer;
  };

  [[nodiscard]] std::size_t KindFor(const ChainGroup& group);
  [[nodiscard]] GroupState StateOf(const DomainIndex& index,
                                   const ChainGroup& group,
                                   std::size_t g);

  const HyperNodeTree& tree_;
  const DomainShape& shape_;
  std::map<Key, std::size_t> kind_of_key_;
  std::vector<ChainGroup> kinds_;
  std::vector<std::vector<Offer>> offers_;  // by kind, a heap; may hold offers that no longer stand
  std::vector<GroupState> states_;          // by group
};

}  // namespace strata
