#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace strata::replay {

// How large a cell is. 0: one GPU, 1: two GPUs, and so on up to a node; above that a leaf.
using CellLevel = std::size_t;

// A part of a cluster of equal nodes: a leaf, a node, or an aligned range of the GPUs of one.
struct Cell {
  CellLevel level = 0;
  std::uint32_t node = 0;  // the first of a leaf
  std::int32_t gpu = 0;    // the first

  auto operator<=>(const Cell&) const = default;
};

// Buddy cells: a request takes the smallest free cell that holds it, the first of equals; a larger
// one is split only where there is none, and parts are merged as soon as all of them are free.
class CellPool {
 public:
  // `leaves` leaves of `nodes_per_leaf` nodes, which come one after another. REQUIRES: `gpus` of a
  // node is a power of two; none is 0.
  CellPool(std::uint32_t leaves, std::uint32_t nodes_per_leaf, std::int32_t gpus);

  [[nodiscard]] CellLevel NodeLevel() const { return node_level_; }
  [[nodiscard]] CellLevel LeafLevel() const { return node_level_ + 1; }
  // The lowest level of cells with so many GPUs; at most that of a node, which may be too small.
  [[nodiscard]] CellLevel LevelFor(std::int32_t gpus) const;

  // Whether a cell may be used, by its first node.
  using Allowed = std::function<bool(std::uint32_t node)>;

  // The level of the free cell that Take would take or split; none when there is none.
  [[nodiscard]] std::optional<CellLevel> Smallest(CellLevel level, const Allowed& allowed) const;
  std::optional<Cell> Take(CellLevel level, const Allowed& allowed);
  // REQUIRES: the cell was taken.
  void Give(Cell cell);

 private:
  [[nodiscard]] std::vector<Cell> PartsOf(const Cell& cell) const;
  [[nodiscard]] Cell Above(const Cell& cell) const;

  std::uint32_t nodes_per_leaf_;
  CellLevel node_level_ = 0;
  std::vector<std::set<Cell>> free_;  // by level
};

}  // namespace strata::replay
