#include "sched/domain_board.h"

#include <algorithm>

namespace strata {

DomainBoard::DomainBoard(const HyperNodeTree& tree, const Gradient& gradient)
    : states_(tree.hypernodes().size()) {
  for (const Gradient::Tier& tier : gradient.tiers) {
    for (const HyperNodeId id : tier.eligible) states_[id.index()].tier = tiers_.size();
    tiers_.push_back({.hypernodes = tier.eligible, .offers = {}});
  }
}

std::optional<HyperNodeId> DomainBoard::Best(const Scorer& score) {
  for (std::size_t t = 0; t < tiers_.size(); ++t) {
    Tier& tier = tiers_[t];
    if (!tier.scored) {
      tier.scored = true;
      for (const HyperNodeId id : tier.hypernodes) {
        states_[id.index()].score = score(id);
        tier.offers.emplace_back(states_[id.index()].score, id);
      }
      std::make_heap(tier.offers.begin(), tier.offers.end(), Worse{});
    }
    while (!tier.offers.empty()) {
      const auto [worth, id] = tier.offers.front();
      const State& state = states_[id.index()];
      if (state.tier == t && state.score == worth && !state.passed_over) return id;
      std::pop_heap(tier.offers.begin(), tier.offers.end(), Worse{});
      tier.offers.pop_back();
    }
  }
  return std::nullopt;
}

void DomainBoard::PassOver(HyperNodeId hypernode) {
  states_[hypernode.index()].passed_over = true;
  passed_over_.push_back(hypernode);
}

void DomainBoard::Resume() {
  for (const HyperNodeId id : passed_over_) {
    states_[id.index()].passed_over = false;
    Push(id);
  }
  passed_over_.clear();
}

void DomainBoard::Refresh(HyperNodeId hypernode, const Scorer& score) {
  State& state = states_[hypernode.index()];
  if (state.tier == kNoTier || !tiers_[state.tier].scored) return;
  const Score now = score(hypernode);
  if (now == state.score) return;
  state.score = now;
  Push(hypernode);
}

void DomainBoard::Push(HyperNodeId hypernode) {
  const State& state = states_[hypernode.index()];
  Tier& tier = tiers_[state.tier];
  tier.offers.emplace_back(state.score, hypernode);
  std::push_heap(tier.offers.begin(), tier.offers.end(), Worse{});
}

}  // namespace strata
