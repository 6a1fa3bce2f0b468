#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/gpu_links.h"

namespace strata {

// A set of GPUs of one node.
struct GpuSet {
  std::vector<std::size_t> members;  // positions in the node, ascending
  std::int64_t score = 0;            // the sum over its pairs
  std::int64_t damage = 0;           // the sum over pairs of a member and one that stays free
  bool proven = true;                // no other set is better
};

// The best `count` of `candidates`: the highest sum of pair scores; among equals the set that
// leaves the highest sum among those of `free` that stay free (so one GPU is the one that does
// least damage); then the lower positions.
//
// Exact for 16 candidates and fewer, at a cost of at most C(16,8) steps. Beyond, a search that is
// cut off after a fixed number of steps; `proven` then says whether it came to its end. No list of
// combinations is built.
// REQUIRES: `candidates` ascend and are a part of `free`, 1 <= count <= their number.
[[nodiscard]] GpuSet BestGpuSet(const PairScores& scores,
                                std::span<const std::size_t> candidates,
                                std::size_t count,
                                std::span<const std::size_t> free);
// The same when every free one is a candidate.
[[nodiscard]] inline GpuSet BestGpuSet(const PairScores& scores,
                                       std::span<const std::size_t> candidates,
                                       std::size_t count) {
  return BestGpuSet(scores, candidates, count, candidates);
}

// The sum over the pairs of `members`.
[[nodiscard]] std::int64_t SumOfPairs(const PairScores& scores,
                                      std::span<const std::size_t> members);

}  // namespace strata
