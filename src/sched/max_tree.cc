#include "sched/max_tree.h"

#include <algorithm>
#include <bit>

namespace strata {

void MaxTree::Reset(std::span<const Score> scores) {
  size_ = scores.size();
  leaves_ = std::bit_ceil(std::max<std::size_t>(size_, 2));
  scores_.assign(scores.begin(), scores.end());
  scores_.resize(leaves_, kNoScore);
  winners_.resize(leaves_);
  const auto leaf = [](std::size_t i) { return static_cast<std::uint32_t>(i); };
  for (std::size_t i = leaves_ / 2; i < leaves_; ++i) {
    winners_[i] = Winner(leaf(2 * i - leaves_), leaf(2 * i + 1 - leaves_));
  }
  for (std::size_t i = leaves_ / 2; i-- > 1;) {
    winners_[i] = Winner(winners_[2 * i], winners_[2 * i + 1]);
  }
}

void MaxTree::Update(std::size_t index, Score score) {
  scores_[index] = score;
  std::size_t i = (index + leaves_) / 2;
  const std::size_t left = index & ~std::size_t{1};
  winners_[i] = Winner(static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(left + 1));
  for (i /= 2; i >= 1; i /= 2) winners_[i] = Winner(winners_[2 * i], winners_[2 * i + 1]);
}

std::size_t MaxTree::Best(std::size_t begin, std::size_t end) const {
  const auto winner_at = [&](std::size_t i) {
    return i >= leaves_ ? static_cast<std::uint32_t>(i - leaves_) : winners_[i];
  };
  auto best = static_cast<std::uint32_t>(begin);
  for (std::size_t l = begin + leaves_, r = end + leaves_; l < r; l /= 2, r /= 2) {
    if ((l & 1U) != 0) best = Winner(best, winner_at(l++));
    if ((r & 1U) != 0) best = Winner(best, winner_at(--r));
  }
  return best;
}

}  // namespace strata
