#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "replay/policies/policy.h"
#include "replay/policies/trial.h"

namespace strata::replay {
namespace {

// Which leaf a node is in; nodes without one are a leaf together, behind all others.
DomainIndex LeafOf(const Room& room, NodeIndex node) {
  const DomainIndex leaf = room.DomainOf(0, node);
  return leaf == Fabric::kNoDomain ? static_cast<DomainIndex>(room.DomainCount(0)) : leaf;
}

class LowestSwitchPolicy final : public Policy {
 public:
  std::vector<NodeIndex> Place(const PlaceJob& job, Room& room) override {
    const JobClass& wanted = *job.job_class;
    GangTrial trial(wanted, room);
    if (wanted.pods == 1 && wanted.wish != Wish::kHard) {
      if (const auto node = TightestNode(room, trial)) trial.Put(*node);
      return trial.Nodes();
    }
    const std::size_t highest = wanted.wish == Wish::kHard ? wanted.max_level : room.levels();
    for (std::size_t level = 0; level <= highest; ++level) {
      for (const DomainIndex domain : DomainsThatHold(wanted, room, level)) {
        LeafByLeaf(room.NodesOf(level, domain), wanted, room, trial);
        if (trial.Done()) return trial.Nodes();
        trial.Clear();
      }
    }
    return {};
  }

 private:
  static std::optional<NodeIndex> TightestNode(const Room& room, const GangTrial& trial) {
    std::optional<NodeIndex> best;
    const auto key = [&](NodeIndex node) {
      const DomainIndex leaf = room.DomainOf(0, node);
      return std::tuple(room.FreeGpus(node),
                        leaf == Fabric::kNoDomain ? 0 : room.WholeNodes(0, leaf));
    };
    for (NodeIndex node = 0; node < room.nodes(); ++node) {
      if (trial.Fits(node) && (!best || key(node) < key(*best))) best = node;
    }
    return best;
  }

  // The leaf that holds all that is left with the least surplus; without one, the leaf with the
  // most room; and again.
  static void LeafByLeaf(const std::vector<NodeIndex>& nodes,
                         const JobClass& job,
                         const Room& room,
                         GangTrial& trial) {
    std::vector<std::int64_t> slots(room.DomainCount(0) + 1);
    for (const NodeIndex node : nodes) {
      if (job.Accepts(node)) slots[LeafOf(room, node)] += room.Slots(node, job.pod, job.pods);
    }
    while (!trial.Done()) {
      const std::int64_t left = job.pods - trial.Placed();
      std::size_t best = 0;
      for (std::size_t leaf = 1; leaf < slots.size(); ++leaf) {
        const bool holds = slots[leaf] >= left;
        const bool best_holds = slots[best] >= left;
        const bool closer = holds ? slots[leaf] < slots[best] : slots[leaf] > slots[best];
        if (holds != best_holds ? holds : closer) best = leaf;
      }
      const std::int32_t before = trial.Placed();
      FillLeaf(nodes, static_cast<DomainIndex>(best), room, trial);
      slots[best] = 0;
      if (trial.Placed() == before) break;
    }
    // A smaller last pod may fit where the others do not.
    for (const NodeIndex node : nodes) trial.Fill(node);
  }

  // Tightest nodes first.
  static void FillLeaf(const std::vector<NodeIndex>& nodes,
                       DomainIndex leaf,
                       const Room& room,
                       GangTrial& trial) {
    while (!trial.Done()) {
      std::optional<NodeIndex> best;
      for (const NodeIndex node : nodes) {
        if (LeafOf(room, node) != leaf || !trial.Fits(node)) continue;
        if (!best || room.FreeGpus(node) < room.FreeGpus(*best)) best = node;
      }
      if (!best) return;
      trial.Fill(*best);
    }
  }
};

}  // namespace

std::unique_ptr<Policy> MakeLowestSwitch() {
  return std::make_unique<LowestSwitchPolicy>();
}

}  // namespace strata::replay
