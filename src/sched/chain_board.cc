#include "sched/chain_board.h"

#include <algorithm>

namespace strata {

std::size_t ChainBoard::KindFor(const ChainGroup& group) {
  const Key key{
      group.leaf == tree_.top(), group.lca_tier, group.same_as_allocated, group.tasks_on_leaf};
  const auto [it, is_new] = kind_of_key_.emplace(key, kinds_.size());
  if (is_new) {
    kinds_.push_back(group);
    kinds_.back().feasible = 0;
    offers_.emplace_back();
  }
  return it->second;
}

ChainBoard::GroupState ChainBoard::StateOf(const DomainIndex& index,
                                           const ChainGroup& group,
                                           std::size_t g) {
  GroupState state{.kind = KindFor(group), .feasible = index.Feasible(g), .offer = {}};
  if (state.feasible == 0) return state;
  const std::size_t best = index.BestOf(g);
  state.offer = {.score = index.ScoreAt(best),
                 .name_rank = tree_.NameRank(shape_.nodes[best]),
                 .group = static_cast<std::uint32_t>(g)};
  return state;
}

void ChainBoard::Reset(const DomainIndex& index, std::span<const ChainGroup> groups) {
  kind_of_key_.clear();
  kinds_.clear();
  offers_.clear();
  states_.clear();
  states_.reserve(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const GroupState state = StateOf(index, groups[g], g);
    states_.push_back(state);
    kinds_[state.kind].feasible += state.feasible;
    if (state.feasible > 0) offers_[state.kind].push_back(state.offer);
  }
  for (std::vector<Offer>& heap : offers_) {
    std::make_heap(heap.begin(), heap.end(), Worse{});
  }
}

void ChainBoard::Refresh(const DomainIndex& index, const ChainGroup& group, std::size_t g) {
  const GroupState before = states_[g];
  const GroupState now = StateOf(index, group, g);
  states_[g] = now;
  kinds_[before.kind].feasible -= before.feasible;
  kinds_[now.kind].feasible += now.feasible;
  if (now.feasible == 0 || (now.kind == before.kind && now.offer == before.offer)) return;
  std::vector<Offer>& heap = offers_[now.kind];
  heap.push_back(now.offer);
  std::push_heap(heap.begin(), heap.end(), Worse{});
}

std::size_t ChainBoard::BestOf(std::size_t kind) {
  std::vector<Offer>& heap = offers_[kind];
  const auto stands = [&](const Offer& offer) {
    const GroupState& state = states_[offer.group];
    return state.kind == kind && state.feasible > 0 && state.offer == offer;
  };
  while (!stands(heap.front())) {
    std::pop_heap(heap.begin(), heap.end(), Worse{});
    heap.pop_back();
  }
  return heap.front().group;
}

}  // namespace strata
