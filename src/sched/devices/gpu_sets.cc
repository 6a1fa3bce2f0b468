#include "sched/devices/gpu_sets.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace strata {
namespace {

constexpr std::size_t kExact = 16;        // candidates that are searched without a bound
constexpr std::size_t kMax = 64;          // beyond, a greedy answer
constexpr std::size_t kMaxSteps = 4'000;  // of a search with a bound, about 2 ms

// Leaving the most among what stays free means taking what has the least to do with the rest:
// (sum left) = (sum of all) - (sum of the degrees taken) + (sum inside), so among sets of equal
// inside the one with the lowest sum of degrees is best.
class SetSearch {
 public:
  SetSearch(const PairScores& scores,
            std::span<const std::size_t> candidates,
            std::size_t count,
            std::span<const std::size_t> free)
      : size_(candidates.size()), count_(count), pairs_(size_ * size_), degrees_(size_, 0) {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        if (i != j) pairs_[i * size_ + j] = scores.Get(candidates[i], candidates[j]);
      }
      for (const std::size_t other : free) {
        if (other != candidates[i]) degrees_[i] += scores.Get(candidates[i], other);
      }
    }
    gains_.assign((count_ + 1) * size_, 0);
    chosen_.resize(count_);
    bounded_ = size_ > kExact;
    if (bounded_) SumBestEdges();
  }

  void Run() { Extend(0, 0, 0, 0); }
  // A first answer to measure others against, which need not be the best.
  void Guess() {
    std::vector<std::size_t> set;
    std::vector<std::int64_t> gains(size_, 0);
    std::vector<bool> taken(size_, false);
    std::int64_t inside = 0;
    std::int64_t degree = 0;
    while (set.size() < count_) {
      std::size_t next = size_;
      for (std::size_t v = 0; v < size_; ++v) {
        if (taken[v]) continue;
        if (next == size_ || Before(gains[next], gains[v], degrees_[v], degrees_[next])) next = v;
      }
      taken[next] = true;
      inside += gains[next];
      degree += degrees_[next];
      set.push_back(next);
      for (std::size_t v = 0; v < size_; ++v) gains[v] += pairs_[next * size_ + v];
    }
    std::sort(set.begin(), set.end());
    best_ = std::move(set);
    best_inside_ = inside;
    best_degree_ = degree;
    guessed_ = true;
  }

  [[nodiscard]] const std::vector<std::size_t>& best() const { return best_; }
  [[nodiscard]] std::int64_t inside() const { return best_inside_; }
  [[nodiscard]] std::int64_t degree() const { return best_degree_; }
  [[nodiscard]] bool complete() const { return steps_ <= kMaxSteps; }

 private:
  // (gain, degree) of `next` is worse than that of v.
  static bool Before(std::int64_t next_gain,
                     std::int64_t gain,
                     std::int64_t degree,
                     std::int64_t next_degree) {
    return gain != next_gain ? gain > next_gain : degree < next_degree;
  }

  void Take(std::int64_t inside, std::int64_t degree) {
    const bool equal = inside == best_inside_ && degree == best_degree_;
    if (!best_.empty()) {
      if (inside < best_inside_ || (inside == best_inside_ && degree > best_degree_)) return;
      // Sets come in ascending order, so an equal one is later, unless the other was a guess.
      if (equal && (!guessed_ || !(chosen_ < best_))) return;
    }
    best_ = chosen_;
    best_inside_ = inside;
    best_degree_ = degree;
    guessed_ = false;
  }

  // All sets that have the first `depth` members chosen and the others from `from` on.
  void Extend(std::size_t depth, std::size_t from, std::int64_t inside, std::int64_t degree) {
    const std::size_t left = count_ - depth;
    const std::int64_t* gains = &gains_[depth * size_];
    if (left == 1) {
      for (std::size_t v = from; v < size_; ++v) {
        chosen_[depth] = v;
        Take(inside + gains[v], degree + degrees_[v]);
      }
      return;
    }
    for (std::size_t v = from; v + left <= size_; ++v) {
      if (bounded_ && (++steps_ > kMaxSteps || Hopeless(depth, v, inside, degree))) return;
      chosen_[depth] = v;
      std::int64_t* next = &gains_[(depth + 1) * size_];
      const std::int64_t* row = &pairs_[v * size_];
      for (std::size_t u = v + 1; u < size_; ++u) next[u] = gains[u] + row[u];
      Extend(depth + 1, v + 1, inside + gains[v], degree + degrees_[v]);
    }
  }

  // best_edges_[k * size_ + v]: the sum of the k best pairs of v.
  void SumBestEdges() {
    best_edges_.assign(count_ * size_, 0);
    std::vector<std::int64_t> row;
    for (std::size_t v = 0; v < size_; ++v) {
      row.clear();
      for (std::size_t u = 0; u < size_; ++u) {
        if (u != v) row.push_back(pairs_[v * size_ + u]);
      }
      std::sort(row.rbegin(), row.rend());
      for (std::size_t k = 1; k < count_; ++k) {
        best_edges_[k * size_ + v] = best_edges_[(k - 1) * size_ + v] + row[k - 1];
      }
    }
  }

  // No set of this branch can be better than the best so far. Each further member brings its gain
  // and, counted at both ends, its pairs with the other further members.
  bool Hopeless(std::size_t depth, std::size_t from, std::int64_t inside, std::int64_t degree) {
    const std::size_t left = count_ - depth;
    const std::int64_t* gains = &gains_[depth * size_];
    const std::int64_t* edges = &best_edges_[(left - 1) * size_];
    twice_.clear();
    least_.clear();
    for (std::size_t v = from; v < size_; ++v) {
      twice_.push_back(2 * gains[v] + edges[v]);
      least_.push_back(degrees_[v]);
    }
    const auto split = static_cast<std::ptrdiff_t>(left);
    std::nth_element(twice_.begin(), twice_.begin() + (split - 1), twice_.end(), std::greater<>());
    const std::int64_t max = std::accumulate(twice_.begin(), twice_.begin() + split, 2 * inside);
    if (max / 2 != best_inside_ || max < 2 * best_inside_) return max < 2 * best_inside_;
    std::nth_element(least_.begin(), least_.begin() + (split - 1), least_.end());
    const std::int64_t lowest = std::accumulate(least_.begin(), least_.begin() + split, degree);
    // An equal set may still have the lower positions, if the best is only a guess.
    return lowest > best_degree_ || (lowest == best_degree_ && !guessed_);
  }

  std::size_t size_;
  std::size_t count_;
  std::vector<std::int64_t> pairs_;
  std::vector<std::int64_t> degrees_;
  std::vector<std::int64_t> gains_;  // by depth: what each candidate adds to the chosen
  std::vector<std::size_t> chosen_;
  std::vector<std::size_t> best_;
  std::int64_t best_inside_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t best_degree_ = std::numeric_limits<std::int64_t>::max();
  bool guessed_ = false;
  bool bounded_ = false;
  std::size_t steps_ = 0;
  std::vector<std::int64_t> best_edges_;
  std::vector<std::int64_t> twice_, least_;
};

}  // namespace

GpuSet BestGpuSet(const PairScores& scores,
                  std::span<const std::size_t> candidates,
                  std::size_t count,
                  std::span<const std::size_t> free) {
  CHECK(count >= 1 && count <= candidates.size());
  SetSearch search(scores, candidates, count, free);
  const bool all = count == candidates.size();
  const bool searched = all || candidates.size() <= kMax;
  if (all || candidates.size() > kExact) search.Guess();
  if (!all && searched) search.Run();
  GpuSet set;
  for (const std::size_t member : search.best()) set.members.push_back(candidates[member]);
  set.score = search.inside();
  set.damage = search.degree() - 2 * set.score;
  set.proven = searched && search.complete();
  return set;
}

std::int64_t SumOfPairs(const PairScores& scores, std::span<const std::size_t> members) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = i + 1; j < members.size(); ++j) sum += scores.Get(members[i], members[j]);
  }
  return sum;
}

}  // namespace strata
