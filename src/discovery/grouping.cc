#include "discovery/grouping.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace strata::discovery {
namespace {

std::int64_t LinksOf(const Shares& shares) {
  return std::accumulate(
      shares.begin(), shares.end(), std::int64_t{0}, [](auto sum, const Share& s) {
        return sum + s.links;
      });
}

}  // namespace

DisjointSets::DisjointSets(std::size_t size) : parent_(size) {
  std::iota(parent_.begin(), parent_.end(), std::size_t{0});
}

std::size_t DisjointSets::Find(std::size_t member) {
  while (parent_[member] != member) {
    parent_[member] = parent_[parent_[member]];
    member = parent_[member];
  }
  return member;
}

void DisjointSets::Join(std::size_t a, std::size_t b) {
  a = Find(a);
  b = Find(b);
  parent_[std::max(a, b)] = std::min(a, b);
}

std::vector<std::size_t> GroupByOverlap(const std::vector<Shares>& owners) {
  DisjointSets groups(owners.size());
  std::map<Shares, std::size_t> representatives;
  std::map<std::size_t, std::vector<std::pair<std::size_t, std::int64_t>>> owners_of;  // by child
  for (std::size_t owner = 0; owner < owners.size(); ++owner) {
    if (owners[owner].empty()) continue;
    const auto [known, is_new] = representatives.emplace(owners[owner], owner);
    groups.Join(known->second, owner);
    if (!is_new) continue;
    for (const Share& share : owners[owner]) {
      owners_of[share.child].emplace_back(owner, share.links);
    }
  }
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> overlaps;
  for (const auto& [child, sharers] : owners_of) {
    for (std::size_t i = 0; i < sharers.size(); ++i) {
      for (std::size_t j = i + 1; j < sharers.size(); ++j) {
        overlaps[{sharers[i].first, sharers[j].first}] +=
            std::min(sharers[i].second, sharers[j].second);
      }
    }
  }
  for (const auto& [pair, overlap] : overlaps) {
    const std::int64_t smaller =
        std::min(LinksOf(owners[pair.first]), LinksOf(owners[pair.second]));
    if (2 * overlap >= smaller) groups.Join(pair.first, pair.second);
  }
  std::vector<std::size_t> group_of(owners.size());
  for (std::size_t owner = 0; owner < owners.size(); ++owner) group_of[owner] = groups.Find(owner);
  return group_of;
}

}  // namespace strata::discovery
