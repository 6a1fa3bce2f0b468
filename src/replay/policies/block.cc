#include <algorithm>
#include <cstddef>
#include <vector>

#include "replay/policies/policy.h"
#include "replay/policies/trial.h"

namespace strata::replay {
namespace {

// Slurm's topology/block: blocks are the leaves; a gang is cut into segments of so many pods, each
// inside one block, the fullest block that holds it first.
class BlockPolicy final : public Policy {
 public:
  explicit BlockPolicy(std::int32_t segment) : segment_(segment) {}

  std::vector<NodeIndex> Place(const PlaceJob& job, Room& room) override {
    const JobClass& wanted = *job.job_class;
    const std::size_t highest = wanted.wish == Wish::kHard ? wanted.max_level : room.levels();
    for (const DomainIndex domain : DomainsThatHold(wanted, room, highest)) {
      GangTrial trial(wanted, room);
      while (!trial.Done()) {
        const std::int32_t end = std::min(trial.Placed() + segment_, wanted.pods);
        if (!PutSegment(wanted, {highest, domain, end}, trial, room)) break;
      }
      if (trial.Done()) return trial.Nodes();
    }
    return {};
  }

 private:
  // The pods up to `end`, somewhere in one domain.
  struct Segment {
    std::size_t level;
    DomainIndex domain;
    std::int32_t end;
  };

  // Puts them in the block with the least room that is enough.
  static bool PutSegment(const JobClass& wanted,
                         const Segment& segment,
                         GangTrial& trial,
                         const Room& room) {
    const std::int32_t end = segment.end;
    std::vector<std::int64_t> slots(room.DomainCount(0));
    for (const NodeIndex node : room.NodesOf(segment.level, segment.domain)) {
      const DomainIndex block = room.DomainOf(0, node);
      if (block == Fabric::kNoDomain || !wanted.Accepts(node)) continue;
      slots[block] += room.Slots(node, trial.Next(), wanted.pods);
    }
    std::size_t best = slots.size();
    for (std::size_t block = 0; block < slots.size(); ++block) {
      if (slots[block] < end - trial.Placed()) continue;
      if (best == slots.size() || slots[block] < slots[best]) best = block;
    }
    if (best == slots.size()) return false;
    std::vector<NodeIndex> nodes = room.NodesOf(0, static_cast<DomainIndex>(best));
    std::stable_sort(nodes.begin(), nodes.end(), [&](NodeIndex a, NodeIndex b) {
      return room.FreeGpus(a) < room.FreeGpus(b);
    });
    for (const NodeIndex node : nodes) {
      while (trial.Placed() < end && trial.Fits(node)) trial.Put(node);
    }
    return trial.Placed() == end;
  }

  std::int32_t segment_;
};

}  // namespace

std::unique_ptr<Policy> MakeBlock(std::int32_t segment) {
  return std::make_unique<BlockPolicy>(segment);
}

}  // namespace strata::replay
