#include "agent/preferred_allocation.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "agent/device_ids.h"
#include "sched/devices/gpu_sets.h"

namespace strata::agent {
namespace {

// More than any sum of pair scores: a set without one of the required GPUs never wins.
constexpr std::int32_t kRequired = 1'000'000;

bool ShorterThenLess(const std::string& a, const std::string& b) {
  return std::tuple(a.size(), std::string_view(a)) < std::tuple(b.size(), std::string_view(b));
}

// Pair scores under which the best set has every GPU of `required`.
PairScores ScoresWith(const PairScores& scores, const std::set<std::size_t>& required) {
  const std::size_t size = scores.size();
  std::vector<std::optional<std::int32_t>> directed(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      if (i == j) continue;
      const bool touches = required.contains(i) || required.contains(j);
      directed[i * size + j] = scores.Get(i, j) + (touches ? kRequired : 0);
    }
  }
  return {size, directed};
}

class Picker {
 public:
  Picker(const NodeGpus& node, const PreferredRequest& request) : node_(node), size_(request.size) {
    const std::set<std::string> unique(request.available.begin(), request.available.end());
    for (const std::string& id : unique) {
      const auto gpu = GpuOfId(node, id);
      (gpu ? left_[*gpu] : strangers_).push_back(id);
    }
    for (auto& [gpu, ids] : left_) {
      std::sort(ids.begin(), ids.end(), ShorterThenLess);
      if (ids.size() == IdsOf(gpu)) free_.insert(gpu);
    }
    for (const std::string& id : request.must_include) Force(id);
  }

  [[nodiscard]] bool Full() const { return chosen_.size() >= size_; }

  // An id, if it is available.
  void TakeId(const std::string& id) {
    const auto gpu = GpuOfId(node_, id);
    if (!gpu || Full()) return;
    const auto left = left_.find(*gpu);
    if (left == left_.end()) return;
    const auto at = std::find(left->second.begin(), left->second.end(), id);
    if (at == left->second.end()) return;
    left->second.erase(at);
    Choose(*gpu, id);
  }

  // One id of each of these GPUs; what was chosen already counts.
  void TakeUuids(const std::vector<std::string>& uuids) {
    std::map<std::size_t, std::size_t> have = gpus_;
    for (const std::string& uuid : uuids) {
      const auto gpu = node_.Find(uuid);
      if (!gpu) continue;
      if (std::size_t& count = have[*gpu]; count > 0) {
        --count;
      } else {
        TakeFrom(*gpu);
      }
    }
  }

  void TakeBestSet() {
    std::vector<std::size_t> pool;  // GPUs of which nothing is chosen yet
    for (const std::size_t gpu : free_) {
      if (!gpus_.contains(gpu)) pool.push_back(gpu);
    }
    if (Full() || pool.empty()) return;
    const std::size_t needed = size_ - chosen_.size();
    if (pool.size() <= needed) {
      for (const std::size_t gpu : pool) TakeFrom(gpu);
      return;
    }
    for (const std::size_t gpu : BestOf(pool, needed)) TakeFrom(gpu);
  }

  // Ids of GPUs that are partly used, then second ids of chosen ones, then ids of unknown GPUs.
  void TakeRest() {
    while (!Full()) {
      const auto next = std::max_element(
          left_.begin(), left_.end(), [this](auto& a, auto& b) { return Worth(a) < Worth(b); });
      if (next == left_.end() || next->second.empty()) break;
      TakeFrom(next->first);
    }
    for (const std::string& id : strangers_) {
      if (!Full()) chosen_.push_back(id);
    }
  }

  [[nodiscard]] std::vector<std::string> Chosen() && { return std::move(chosen_); }

 private:
  using Left = std::pair<const std::size_t, std::vector<std::string>>;

  [[nodiscard]] std::size_t IdsOf(std::size_t gpu) const {
    return static_cast<std::size_t>(std::max(1, node_.gpus[gpu].slots));
  }
  // Something left, not chosen yet, more left; of equals the lower position.
  [[nodiscard]] std::tuple<bool, bool, std::size_t, std::size_t> Worth(const Left& left) const {
    return {!left.second.empty(),
            !gpus_.contains(left.first),
            left.second.size(),
            node_.gpus.size() - left.first};
  }

  void Choose(std::size_t gpu, const std::string& id) {
    chosen_.push_back(id);
    ++gpus_[gpu];
  }
  void TakeFrom(std::size_t gpu) {
    const auto left = left_.find(gpu);
    if (Full() || left == left_.end() || left->second.empty()) return;
    const std::string id = left->second.front();
    left->second.erase(left->second.begin());
    Choose(gpu, id);
  }
  // The kubelet has it already, whatever we think of it.
  void Force(const std::string& id) {
    if (const auto gpu = GpuOfId(node_, id)) {
      std::erase(left_[*gpu], id);
      Choose(*gpu, id);
    } else {
      std::erase(strangers_, id);
      chosen_.push_back(id);
    }
  }

  // REQUIRES: `needed` < the number in `pool`, which ascends.
  [[nodiscard]] std::vector<std::size_t> BestOf(const std::vector<std::size_t>& pool,
                                                std::size_t needed) const {
    if (node_.scores.size() != node_.gpus.size()) {
      return {pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(needed)};
    }
    std::set<std::size_t> required;
    for (const auto& [gpu, count] : gpus_) required.insert(gpu);
    std::set<std::size_t> all(pool.begin(), pool.end());
    all.insert(required.begin(), required.end());
    const std::vector<std::size_t> candidates(all.begin(), all.end());
    const GpuSet best =
        BestGpuSet(ScoresWith(node_.scores, required), candidates, needed + required.size());
    std::vector<std::size_t> members;
    for (const std::size_t gpu : best.members) {
      if (!required.contains(gpu)) members.push_back(gpu);
    }
    return members;
  }

  const NodeGpus& node_;
  const std::size_t size_;
  std::map<std::size_t, std::vector<std::string>> left_;  // available ids by GPU
  std::vector<std::string> strangers_;                    // ids of GPUs that the node does not have
  std::set<std::size_t> free_;
  std::vector<std::string> chosen_;
  std::map<std::size_t, std::size_t> gpus_;  // how many ids of each GPU are chosen
};

}  // namespace

std::vector<std::string> PreferIds(const NodeGpus& node,
                                   const PreferredRequest& request,
                                   const WantedGpus& wanted) {
  Picker picker(node, request);
  for (const std::string& id : wanted.ids) picker.TakeId(id);
  picker.TakeUuids(wanted.uuids);
  picker.TakeBestSet();
  picker.TakeRest();
  return std::move(picker).Chosen();
}

}  // namespace strata::agent
