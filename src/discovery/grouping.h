#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::discovery {

// How many links go to one child.
struct Share {
  std::size_t child = 0;
  std::int64_t links = 0;  // > 0

  auto operator<=>(const Share&) const = default;
};
using Shares = std::vector<Share>;  // ascending by child, each once

// Puts owners (switches of one level) together whose links to children overlap by half or more of
// the smaller one's links, and owners that share a third one. Returns for each owner the
// lowest owner of its group; an owner without children stays alone.
//
// COST: owners with equal shares count once, so a healthy fabric is linear.
[[nodiscard]] std::vector<std::size_t> GroupByOverlap(const std::vector<Shares>& owners);

// Sets that grow together. The lowest member speaks for its set.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t size);
  [[nodiscard]] std::size_t Find(std::size_t member);
  void Join(std::size_t a, std::size_t b);

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace strata::discovery
