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

// The HyperNodes that sub-groups which are all alike may go to, the best of the lowest tier first:
// hundreds of them ask one after the other, and between two of them few HyperNodes change. Room
// only goes while the sub-groups of one job are placed, so what has none left is dropped for good;
// where only the way of the tasks to it was barred, the next one asks again.
class DomainBoard {
 public:
  // What a HyperNode is worth as things stand, independent of the others.
  using Scorer = std::function<Score(HyperNodeId)>;

  DomainBoard(const HyperNodeTree& tree, const Gradient& gradient);

  // The best one left: of the lowest tier that has any, by score, then by name.
  [[nodiscard]] std::optional<HyperNodeId> Best(const Scorer& score);
  [[nodiscard]] Score ScoreOf(HyperNodeId hypernode) const {
    return states_[hypernode.index()].score;
  }
  // It has no place for any more of them.
  void Drop(HyperNodeId hypernode) { states_[hypernode.index()].tier = kNoTier; }
  // It is not offered again before Resume.
  void PassOver(HyperNodeId hypernode);
  void Resume();
  // What runs in it changed.
  void Refresh(HyperNodeId hypernode, const Scorer& score);

 private:
  static constexpr std::size_t kNoTier = SIZE_MAX;
  struct State {
    std::size_t tier = kNoTier;  // index into tiers_; none: not on the board, or dropped
    Score score = kNoScore;
    bool passed_over = false;
  };
  // Higher scores first, then lower ids (which follow the names).
  using Offer = std::pair<Score, HyperNodeId>;
  struct Tier {
    std::vector<HyperNodeId> hypernodes;
    std::vector<Offer> offers;  // a heap; may hold offers that no longer stand
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
