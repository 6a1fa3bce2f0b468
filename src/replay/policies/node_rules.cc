#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "replay/policies/policy.h"
#include "replay/policies/trial.h"

namespace strata::replay {
namespace {

class NodeRulePolicy final : public Policy {
 public:
  NodeRulePolicy(NodeRule rule, const Fabric& fabric, std::uint64_t seed)
      : rule_(rule), random_(seed), order_(fabric.nodes.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    if (rule == NodeRule::kShuffled) random_.Shuffle(order_);
    if (rule == NodeRule::kTopologyOrder) {
      std::stable_sort(order_.begin(), order_.end(), [&](NodeIndex a, NodeIndex b) {
        for (std::size_t level = fabric.levels.size(); level-- > 0;) {
          const auto& of_node = fabric.levels[level].of_node;
          if (of_node[a] != of_node[b]) return of_node[a] < of_node[b];
        }
        return false;
      });
    }
  }

  std::vector<NodeIndex> Place(const PlaceJob& job, Room& room) override {
    const JobClass& wanted = *job.job_class;
    GangTrial trial(wanted, room);
    if (wanted.wish != Wish::kHard || wanted.max_level >= room.levels()) {
      PlaceAmong(order_, room, trial);
      return trial.Nodes();
    }
    for (const DomainIndex domain : DomainsThatHold(wanted, room, wanted.max_level)) {
      PlaceAmong(InOrder(room.NodesOf(wanted.max_level, domain)), room, trial);
      if (trial.Done()) return trial.Nodes();
      trial.Clear();
    }
    return {};
  }

 private:
  // Nodes of a domain in the order of this rule.
  [[nodiscard]] std::vector<NodeIndex> InOrder(const std::vector<NodeIndex>& nodes) const {
    std::vector<NodeIndex> sorted;
    for (const NodeIndex node : order_) {
      if (std::binary_search(nodes.begin(), nodes.end(), node)) sorted.push_back(node);
    }
    return sorted;
  }

  void PlaceAmong(const std::vector<NodeIndex>& nodes, const Room& room, GangTrial& trial) {
    while (!trial.Done()) {
      const auto node = Choose(nodes, room, trial);
      if (!node) return;
      trial.Put(*node);
    }
  }

  std::optional<NodeIndex> Choose(const std::vector<NodeIndex>& nodes,
                                  const Room& room,
                                  const GangTrial& trial) {
    if (rule_ == NodeRule::kRandom) return ChooseRandom(nodes, trial);
    std::optional<NodeIndex> best;
    for (const NodeIndex node : nodes) {
      if (!trial.Fits(node)) continue;
      if (rule_ != NodeRule::kSpread && rule_ != NodeRule::kBinpack) return node;
      const bool better =
          !best || (rule_ == NodeRule::kSpread ? room.FreeGpus(node) > room.FreeGpus(*best)
                                               : room.FreeGpus(node) < room.FreeGpus(*best));
      if (better) best = node;
    }
    return best;
  }

  std::optional<NodeIndex> ChooseRandom(const std::vector<NodeIndex>& nodes,
                                        const GangTrial& trial) {
    fitting_.clear();
    for (const NodeIndex node : nodes) {
      if (trial.Fits(node)) fitting_.push_back(node);
    }
    if (fitting_.empty()) return std::nullopt;
    return fitting_[random_.Below(fitting_.size())];
  }

  NodeRule rule_;
  Random random_;
  std::vector<NodeIndex> order_;
  std::vector<NodeIndex> fitting_;  // scratch
};

}  // namespace

std::unique_ptr<Policy> MakeNodeRule(NodeRule rule, const Fabric& fabric, std::uint64_t seed) {
  return std::make_unique<NodeRulePolicy>(rule, fabric, seed);
}

}  // namespace strata::replay
