#include "model/hypernode_layout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace strata {

HyperNodeLayout::HyperNodeLayout(const HyperNodeShape& shape,
                                 const HyperNodeMembership& membership,
                                 std::span<const HyperNodeId> id_of_slot)
    : chain_of_(membership.node_limit()), rank_(membership.node_limit()) {
  std::vector<Key> keys = AssignChains(shape, membership, id_of_slot);
  NumberChains(keys);
  PlaceNodes();
  ListHyperNodes(shape, keys);
  PlaceHyperNodes(shape);
}

namespace {

// Sets `key` to the positions of the lowest HyperNodes among the holders. Nodes are in exactly the
// same HyperNodes when these are equal.
void LowestHolders(const HyperNodeShape& shape,
                   std::span<const HyperNodeSlot> holders,
                   std::span<const HyperNodeId> id_of_slot,
                   std::vector<std::uint32_t>& key) {
  key.clear();
  for (const HyperNodeSlot slot : holders) {
    const HyperNodeId id = id_of_slot[slot.index()];
    if (id.valid()) key.push_back(shape.PositionOf(id));
  }
  if (key.empty()) key.push_back(shape.PositionOf(shape.top()));
  if (key.size() == 1) return;
  std::sort(key.begin(), key.end());
  // What is below a HyperNode follows it at once, so it is enough to look at the next one.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const bool is_above_next =
        i + 1 < key.size() && key[i + 1] < shape.EndOf(shape.AtPosition(key[i]));
    if (!is_above_next) key[kept++] = key[i];
  }
  key.resize(kept);
}

// The numbers that were given in order of appearance, renamed so that the keys ascend.
std::vector<ChainId> SortKeys(std::vector<std::vector<std::uint32_t>>& keys) {
  std::vector<std::uint32_t> by_key(keys.size());
  std::iota(by_key.begin(), by_key.end(), 0U);
  std::sort(by_key.begin(), by_key.end(), [&](std::uint32_t a, std::uint32_t b) {
    return keys[a] < keys[b];
  });
  std::vector<std::vector<std::uint32_t>> sorted(keys.size());
  std::vector<ChainId> renamed(keys.size());
  for (std::size_t i = 0; i < by_key.size(); ++i) {
    sorted[i] = std::move(keys[by_key[i]]);
    renamed[by_key[i]] = IdAt<ChainId>(i);
  }
  keys = std::move(sorted);
  return renamed;
}

}  // namespace

std::vector<HyperNodeLayout::Key> HyperNodeLayout::AssignChains(
    const HyperNodeShape& shape,
    const HyperNodeMembership& membership,
    std::span<const HyperNodeId> id_of_slot) {
  std::vector<Key> keys;
  std::vector<ChainId> of_one(shape.hypernodes().size());  // by position; most keys have one
  std::map<Key, ChainId> of_several;
  Key key;
  order_.reserve(membership.nodes().size());
  for (const auto& [name, node] : membership.nodes()) {
    rank_[node.index()] = static_cast<std::uint32_t>(order_.size());
    order_.push_back(node);
    LowestHolders(shape, membership.HoldersOf(node), id_of_slot, key);
    ChainId& chain = key.size() == 1 ? of_one[key.front()] : of_several[key];
    if (!chain.valid()) {
      chain = IdAt<ChainId>(keys.size());
      keys.push_back(key);
    }
    chain_of_[node.index()] = chain;
  }
  return keys;
}

void HyperNodeLayout::NumberChains(std::vector<Key>& keys) {
  const std::vector<ChainId> renamed = SortKeys(keys);
  for (ChainId& chain : chain_of_) {
    if (chain.valid()) chain = renamed[chain.index()];
  }
  chains_.resize(keys.size());
}

void HyperNodeLayout::PlaceNodes() {
  for (const ChainId chain : chain_of_) {
    if (chain.valid()) ++chains_[chain.index()].nodes.end;
  }
  std::uint32_t begin = 0;
  for (Chain& chain : chains_) {
    const std::uint32_t count = chain.nodes.end;
    chain.nodes = {begin, begin};  // the end moves up again as nodes are placed
    begin += count;
  }
  const std::vector<NodeId> by_name = order_;
  for (const NodeId node : by_name) {
    order_[chains_[chain_of_[node.index()].index()].nodes.end++] = node;
  }
}

void HyperNodeLayout::ListHyperNodes(const HyperNodeShape& shape, std::span<const Key> keys) {
  const auto by_tier_and_name = [&](HyperNodeId a, HyperNodeId b) {
    const auto rank = [&](HyperNodeId id) {
      return std::tuple(shape.hypernodes()[id.index()].tier, id);
    };
    return rank(a) < rank(b);
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto begin = static_cast<std::uint32_t>(chain_hypernodes_.size());
    for (const std::uint32_t position : keys[i]) {
      for (HyperNodeId id = shape.AtPosition(position); id.valid();
           id = shape.hypernodes()[id.index()].parent) {
        chain_hypernodes_.push_back(id);
      }
    }
    if (keys[i].size() > 1) {
      const auto first = chain_hypernodes_.begin() + begin;
      std::sort(first, chain_hypernodes_.end(), by_tier_and_name);
      chain_hypernodes_.erase(std::unique(first, chain_hypernodes_.end()), chain_hypernodes_.end());
    }
    chains_[i].hypernodes = {begin, static_cast<std::uint32_t>(chain_hypernodes_.size())};
  }
}

void HyperNodeLayout::PlaceHyperNodes(const HyperNodeShape& shape) {
  std::vector<std::vector<ChainId>> chains_of(shape.hypernodes().size());
  for (std::size_t i = 0; i < chains_.size(); ++i) {
    for (const HyperNodeId id : HyperNodesOf(IdAt<ChainId>(i))) {
      chains_of[id.index()].push_back(IdAt<ChainId>(i));
    }
  }
  nodes_of_.reserve(chains_of.size());
  for (const std::vector<ChainId>& chains : chains_of) nodes_of_.push_back(RangeOf(chains));
}

HyperNodeLayout::Range HyperNodeLayout::RangeOf(std::span<const ChainId> chains) {
  if (chains.empty()) return {};
  const bool is_interval = chains.back().value - chains.front().value + 1 == chains.size();
  if (is_interval) {
    return {chains_[chains.front().index()].nodes.begin, chains_[chains.back().index()].nodes.end};
  }
  const auto begin = static_cast<std::uint32_t>(order_.size());
  for (const ChainId chain : chains) {
    const Range nodes = chains_[chain.index()].nodes;
    // By index: growing order_ moves what an iterator would point at.
    for (std::uint32_t i = nodes.begin; i < nodes.end; ++i) order_.push_back(order_[i]);
  }
  return {begin, static_cast<std::uint32_t>(order_.size())};
}

}  // namespace strata
