#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sched/score.h"

namespace strata {

// Finds the highest score in any range of a list, the first of equal ones. A tournament tree: every
// inner node holds the winner of its two halves. COST: Reset O(n), Update and Best O(log n).
class MaxTree {
 public:
  void Reset(std::span<const Score> scores);
  void Update(std::size_t index, Score score);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Score at(std::size_t index) const { return scores_[index]; }
  // The winner of [begin, end). REQUIRES: begin < end <= size().
  [[nodiscard]] std::size_t Best(std::size_t begin, std::size_t end) const;

 private:
  [[nodiscard]] std::uint32_t Winner(std::uint32_t a, std::uint32_t b) const {
    if (scores_[a] != scores_[b]) return scores_[a] > scores_[b] ? a : b;
    return a < b ? a : b;
  }

  std::size_t size_ = 0;
  std::size_t leaves_ = 0;              // a power of two
  std::vector<Score> scores_;           // padded with kNoScore
  std::vector<std::uint32_t> winners_;  // inner nodes, heap order, [1] is the root
};

}  // namespace strata
