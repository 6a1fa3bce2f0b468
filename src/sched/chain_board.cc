#include "sched/chain_board.h"

#include <algorithm>

namespace strata {

ChainBoard::Key ChainBoard::KeyOf(const ChainGroup& group) const {
  return {group.leaf == tree_.top(),
          group.lca_tier,
          group.same_as_allocated,
          group.tasks_on_leaf,
          group.base};
}

std::size_t ChainBoard::KindFor(const ChainGroup& group) {
  const Key key = KeyOf(group);
  // Neighbours are mostly alike.
  if (last_ != kind_of_key_.end() && last_->first == key) return last_->second;
  const auto [it, is_new] = kind_of_key_.emplace(key, free_.empty() ? kinds_.size() : free_.back());
  last_ = it;
  if (!is_new) return it->second;
  if (free_.empty()) {
    kinds_.emplace_back();
    keys_.emplace_back();
    members_.emplace_back();
    offers_.emplace_back();
  } else {
    free_.pop_back();
  }
  kinds_[it->second] = group;
  kinds_[it->second].feasible = 0;
  keys_[it->second] = key;
  return it->second;
}

std::size_t ChainBoard::KindAfter(std::size_t kind, const ChainGroup& group) {
  const Key key = KeyOf(group);
  if (key == keys_[kind]) return kind;
  if (members_[kind] > 1 || kind_of_key_.contains(key)) return KindFor(group);
  auto entry = kind_of_key_.extract(keys_[kind]);
  entry.key() = key;
  last_ = kind_of_key_.insert(std::move(entry)).position;
  const std::uint32_t feasible = kinds_[kind].feasible;
  kinds_[kind] = group;
  kinds_[kind].feasible = feasible;
  keys_[kind] = key;
  return kind;
}

void ChainBoard::Leave(std::size_t kind) {
  if (--members_[kind] > 0) return;
  const auto it = kind_of_key_.find(keys_[kind]);
  if (last_ == it) last_ = kind_of_key_.end();
  kind_of_key_.erase(it);
  offers_[kind].clear();
  free_.push_back(kind);
}

ChainBoard::GroupState ChainBoard::StateOf(const DomainIndex& index,
                                           std::size_t kind,
                                           std::size_t g) const {
  GroupState state{.kind = kind, .feasible = index.Feasible(g), .offer = {}};
  if (state.feasible == 0) return state;
  const std::size_t best = index.BestOf(g);
  state.offer = {.score = index.ScoreAt(best),
                 .name_rank = tree_.NameRank(shape_.nodes[best]),
                 .group = static_cast<std::uint32_t>(g)};
  return state;
}

void ChainBoard::Reset(const DomainIndex& index, std::span<const ChainGroup> groups) {
  kind_of_key_.clear();
  last_ = kind_of_key_.end();
  kinds_.clear();
  keys_.clear();
  members_.clear();
  free_.clear();
  offers_.clear();
  states_.clear();
  states_.reserve(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const GroupState state = StateOf(index, KindFor(groups[g]), g);
    states_.push_back(state);
    ++members_[state.kind];
    kinds_[state.kind].feasible += state.feasible;
    if (state.feasible > 0) offers_[state.kind].push_back(state.offer);
  }
  for (std::vector<Offer>& heap : offers_) {
    std::make_heap(heap.begin(), heap.end(), Worse{});
  }
}

void ChainBoard::Refresh(const DomainIndex& index, const ChainGroup& group, std::size_t g) {
  const GroupState before = states_[g];
  const GroupState now = StateOf(index, KindAfter(before.kind, group), g);
  states_[g] = now;
  kinds_[before.kind].feasible -= before.feasible;
  kinds_[now.kind].feasible += now.feasible;
  if (now.kind != before.kind) {
    ++members_[now.kind];
    Leave(before.kind);
  }
  if (now.feasible == 0 || (now.kind == before.kind && now.offer == before.offer)) return;
  Push(now.kind, now.offer);
}

bool ChainBoard::IsCurrent(const Offer& offer, std::size_t kind) const {
  const GroupState& state = states_[offer.group];
  return state.kind == kind && state.feasible > 0 && state.offer == offer;
}

void ChainBoard::Push(std::size_t kind, const Offer& offer) {
  std::vector<Offer>& heap = offers_[kind];
  heap.push_back(offer);
  if (heap.size() <= 2 * members_[kind] + 16) {
    std::push_heap(heap.begin(), heap.end(), Worse{});
    return;
  }
  // A board may live long: outdated and duplicate offers must not accumulate.
  std::erase_if(heap, [&](const Offer& old) { return !IsCurrent(old, kind); });
  std::sort(heap.begin(), heap.end(), Worse{});
  heap.erase(std::unique(heap.begin(), heap.end()), heap.end());
  std::make_heap(heap.begin(), heap.end(), Worse{});
}

std::size_t ChainBoard::BestOf(std::size_t kind) {
  std::vector<Offer>& heap = offers_[kind];
  while (!IsCurrent(heap.front(), kind)) {
    std::pop_heap(heap.begin(), heap.end(), Worse{});
    heap.pop_back();
  }
  return heap.front().group;
}

}  // namespace strata
