#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "sched/domain_index.h"
#include "sched/extension.h"
#include "sched/score.h"

namespace strata {

// The chains of a domain for one class of tasks, grouped into kinds: chains of a kind get the same
// score. Keeps the best chain of each kind, so that a placement, which changes one chain, does not
// require another look at all of them. A "group" is a chain with its nodes in the domain.
class ChainBoard {
 public:
  ChainBoard(const HyperNodeTree& tree, const DomainShape& shape)
      : tree_(tree), shape_(shape), last_(kind_of_key_.end()) {}
  ChainBoard(const ChainBoard&) = delete;
  ChainBoard& operator=(const ChainBoard&) = delete;

  // Starts over. `groups` is parallel to the groups of the shape; their `feasible` is ignored.
  // COST: O(groups).
  void Reset(const DomainIndex& index, std::span<const ChainGroup> groups);
  // To be called when group number `g` changed, in the index or in its fields. COST: O(log groups).
  void Refresh(const DomainIndex& index, const ChainGroup& group, std::size_t g);

  // One entry per kind; its `feasible` is the sum over its groups, 0 when the kind is unused.
  [[nodiscard]] std::span<const ChainGroup> kinds() const { return kinds_; }
  [[nodiscard]] std::size_t KindOf(std::size_t g) const { return states_[g].kind; }
  // The group of the kind with the best node: the highest node-local score, then the lower name.
  // REQUIRES: the kind has feasible nodes.
  [[nodiscard]] std::size_t BestOf(std::size_t kind);

 private:
  // Outside of all HyperNodes, tier of the LCA, the same as what is allocated, tasks on the leaf,
  // base.
  using Key = std::tuple<bool, std::int32_t, bool, std::uint32_t, std::optional<ChainGroup::Base>>;
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

  [[nodiscard]] Key KeyOf(const ChainGroup& group) const;
  [[nodiscard]] std::size_t KindFor(const ChainGroup& group);
  // The kind of a group that was of `kind` and changed. A kind's only member re-keys the kind,
  // which is the usual case while a leaf fills up.
  [[nodiscard]] std::size_t KindAfter(std::size_t kind, const ChainGroup& group);
  // The kind has one group less; the number of an empty kind is reused.
  void Leave(std::size_t kind);
  // True when the offer is still that of its group.
  [[nodiscard]] bool IsCurrent(const Offer& offer, std::size_t kind) const;
  // Adds to the heap of the kind. COST: O(log groups), amortised.
  void Push(std::size_t kind, const Offer& offer);
  [[nodiscard]] GroupState StateOf(const DomainIndex& index, std::size_t kind, std::size_t g) const;

  const HyperNodeTree& tree_;
  const DomainShape& shape_;
  std::map<Key, std::size_t> kind_of_key_;
  std::map<Key, std::size_t>::const_iterator last_;  // of kind_of_key_: the last lookup
  std::vector<ChainGroup> kinds_;
  std::vector<Key> keys_;                   // by kind
  std::vector<std::size_t> members_;        // groups of each kind
  std::vector<std::size_t> free_;           // unused kinds
  std::vector<std::vector<Offer>> offers_;  // by kind, a heap; may hold outdated offers
  std::vector<GroupState> states_;          // by group
};

}  // namespace strata
