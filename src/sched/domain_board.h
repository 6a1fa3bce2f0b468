#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "sched/extension.h"
#include "sched/score.h"

namespace strata {

// The candidate HyperNodes of sub-groups that all ask for the same, the best of the lowest tier
// first. Hundreds of sub-groups ask one after the other, and few HyperNodes change between two of
// them. While they are placed, room only decreases: a HyperNode without room is dropped for good.
// One that was only blocked by a sibling task (Fit::kBlockedBySibling) is offered to the next
// sub-group.
class DomainBoard {
 public:
  // The score of a HyperNode now, independent of the other HyperNodes.
  using Scorer = std::function<Score(HyperNodeId)>;

  DomainBoard(const HyperNodeTree& tree, const Gradient& gradient);

  // The best candidate: of the lowest tier that has one, by score, then by name.
  [[nodiscard]] std::optional<HyperNodeId> Best(const Scorer& score);
  [[nodiscard]] Score ScoreOf(HyperNodeId hypernode) const {
    return states_[hypernode.index()].score;
  }
  // The HyperNode has no room for another sub-group: it is never offered again.
  void Drop(HyperNodeId hypernode) { states_[hypernode.index()].tier = kNoTier; }
  // The HyperNode is not offered again before Resume.
  void PassOver(HyperNodeId hypernode);
  void Resume();
  // To be called when tasks in the HyperNode changed.
  void Refresh(HyperNodeId hypernode, const Scorer& score);

 private:
  static constexpr std::size_t kNoTier = SIZE_MAX;
  struct State {
    std::size_t tier = kNoTier;  // index into tiers_; kNoTier: not a candidate, or dropped
    Score score = kNoScore;
    bool passed_over = false;
  };
  // Higher scores first, then lower ids (which follow the names).
  using Offer = std::pair<Score, HyperNodeId>;
  struct Tier {
    std::vector<HyperNodeId> hypernodes;
    std::vector<Offer> offers;  // a heap; may hold outdated offers
    bool scored = false;
  };
  struct Worse {
    bool operator()(const Offer& a, const Offer& b) const {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    }
  };

  void Push(HyperNodeId hypernode);

  std::vector<Tier> tiers_;
  std::vector<State> states_;  // by HyperNode
  std::vector<HyperNodeId> passed_over_;
};

}  // namespace strata
