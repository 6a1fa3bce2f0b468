#include "replay/policies/cells.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace strata::replay {

CellPool::CellPool(std::uint32_t leaves, std::uint32_t nodes_per_leaf, std::int32_t gpus)
    : nodes_per_leaf_(nodes_per_leaf) {
  CHECK(gpus > 0 && std::has_single_bit(static_cast<std::uint32_t>(gpus)));
  node_level_ = static_cast<CellLevel>(std::countr_zero(static_cast<std::uint32_t>(gpus)));
  free_.resize(LeafLevel() + 1);
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
    free_.back().insert({.level = LeafLevel(), .node = leaf * nodes_per_leaf});
  }
}

CellLevel CellPool::LevelFor(std::int32_t gpus) const {
  CellLevel level = 0;
  while (level < node_level_ && (1 << level) < gpus) ++level;
  return level;
}

std::optional<CellLevel> CellPool::Smallest(CellLevel level, const Allowed& allowed) const {
  for (; level < free_.size(); ++level) {
    for (const Cell& cell : free_[level]) {
      if (allowed(cell.node)) return level;
    }
  }
  return std::nullopt;
}

std::optional<Cell> CellPool::Take(CellLevel level, const Allowed& allowed) {
  const auto smallest = Smallest(level, allowed);
  if (!smallest) return std::nullopt;
  const auto found = std::find_if(free_[*smallest].begin(),
                                  free_[*smallest].end(),
                                  [&](const Cell& cell) { return allowed(cell.node); });
  Cell cell = *found;
  free_[*smallest].erase(found);
  while (cell.level > level) {
    // Any part of a leaf may be used where its first node may: the first part is taken.
    const std::vector<Cell> parts = PartsOf(cell);
    free_[cell.level - 1].insert(parts.begin() + 1, parts.end());
    cell = parts.front();
  }
  return cell;
}

void CellPool::Give(Cell cell) {
  while (cell.level < LeafLevel()) {
    const Cell above = Above(cell);
    const std::vector<Cell> parts = PartsOf(above);
    std::set<Cell>& free = free_[cell.level];
    const bool merges = std::all_of(parts.begin(), parts.end(), [&](const Cell& part) {
      return part == cell || free.contains(part);
    });
    if (!merges) break;
    for (const Cell& part : parts) free.erase(part);
    cell = above;
  }
  CHECK(free_[cell.level].insert(cell).second);
}

std::vector<Cell> CellPool::PartsOf(const Cell& cell) const {
  std::vector<Cell> parts;
  if (cell.level == LeafLevel()) {
    parts.reserve(nodes_per_leaf_);
    for (std::uint32_t i = 0; i < nodes_per_leaf_; ++i) {
      parts.push_back({.level = node_level_, .node = cell.node + i});
    }
    return parts;
  }
  const std::int32_t half = 1 << (cell.level - 1);
  parts.push_back({.level = cell.level - 1, .node = cell.node, .gpu = cell.gpu});
  parts.push_back({.level = cell.level - 1, .node = cell.node, .gpu = cell.gpu + half});
  return parts;
}

Cell CellPool::Above(const Cell& cell) const {
  if (cell.level == node_level_) {
    return {.level = LeafLevel(), .node = cell.node / nodes_per_leaf_ * nodes_per_leaf_};
  }
  const std::int32_t size = 2 << cell.level;
  return {.level = cell.level + 1, .node = cell.node, .gpu = cell.gpu / size * size};
}

}  // namespace strata::replay
