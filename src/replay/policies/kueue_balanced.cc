#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include "replay/policies/policy.h"
#include "replay/policies/trial.h"

namespace strata::replay {
namespace {

// Pods for each leaf, given the slots of each.
using Shares = std::vector<std::int32_t>;

// Equal shares over as few leaves as hold the gang; whole slices in each. Empty when the leaves do
// not hold it.
Shares BalancedShares(const Shares& slots, std::int32_t pods, std::int32_t slice) {
  std::vector<std::size_t> order(slots.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return slots[a] / slice > slots[b] / slice;
  });
  const std::int32_t slices = pods / slice;
  std::int64_t held = 0;
  std::size_t count = 0;
  while (count < order.size() && held < slices) held += slots[order[count++]] / slice;
  if (held < slices) return {};
  // The smallest first: what it cannot take is shared by the others.
  Shares shares(slots.size());
  std::int32_t left = slices;
  for (std::size_t i = count; i-- > 0;) {
    const auto others = static_cast<std::int32_t>(i) + 1;
    const std::int32_t share = std::min(slots[order[i]] / slice, left / others);
    shares[order[i]] = share * slice;
    left -= share;
  }
  for (std::size_t i = 0; i < count && left > 0; ++i) {
    const std::int32_t more = std::min(slots[order[i]] / slice - shares[order[i]] / slice, left);
    shares[order[i]] += more * slice;
    left -= more;
  }
  return shares;
}

// How unequal the shares are, then how many leaves: the less the better.
std::tuple<std::int32_t, std::int64_t> CostOf(const Shares& shares) {
  std::int32_t least = 0;
  std::int32_t most = 0;
  std::int64_t used = 0;
  for (const std::int32_t share : shares) {
    if (share == 0) continue;
    least = used == 0 ? share : std::min(least, share);
    most = std::max(most, share);
    ++used;
  }
  return {most - least <= 1 ? 0 : most - least, used};
}

class KueuePolicy final : public Policy {
 public:
  using MakeShares = Shares (*)(const Shares& slots, std::int32_t pods, std::int32_t slice);
  // Which of the domains of the lowest level that hold the gang: the one with the least cost, or
  // the fullest.
  enum class Choose : std::uint8_t { kCheapest, kFullest };

  KueuePolicy(MakeShares make_shares, Choose choose) : make_shares_(make_shares), choose_(choose) {}

  std::vector<NodeIndex> Place(const PlaceJob& job, Room& room) override {
    const JobClass& wanted = *job.job_class;
    const std::size_t highest = wanted.wish == Wish::kHard ? wanted.max_level : room.levels();
    for (std::size_t level = 0; level <= highest; ++level) {
      std::optional<Shares> best;
      for (const DomainIndex domain : DomainsThatHold(wanted, room, level)) {
        Shares shares =
            make_shares_(SlotsOf(wanted, room, level, domain), wanted.pods, wanted.slice);
        if (shares.empty()) continue;
        const bool cheaper = choose_ == Choose::kCheapest && best && CostOf(shares) < CostOf(*best);
        if (!best || cheaper) best = std::move(shares);
      }
      if (!best) continue;
      GangTrial trial(wanted, room);
      Fill(*best, room, trial);
      if (trial.Done()) return trial.Nodes();
    }
    return {};
  }

 private:
  static Shares SlotsOf(const JobClass& job,
                        const Room& room,
                        std::size_t level,
                        DomainIndex domain) {
    Shares slots(room.DomainCount(0));
    for (const NodeIndex node : room.NodesOf(level, domain)) {
      const DomainIndex leaf = room.DomainOf(0, node);
      if (leaf == Fabric::kNoDomain || !job.Accepts(node)) continue;
      slots[leaf] += room.Slots(node, job.pod, job.pods);
    }
    return slots;
  }

  static void Fill(const Shares& shares, const Room& room, GangTrial& trial) {
    for (DomainIndex leaf = 0; leaf < shares.size(); ++leaf) {
      const std::int32_t end = trial.Placed() + shares[leaf];
      std::vector<NodeIndex> nodes = room.NodesOf(0, leaf);
      std::stable_sort(nodes.begin(), nodes.end(), [&](NodeIndex a, NodeIndex b) {
        return room.FreeGpus(a) < room.FreeGpus(b);
      });
      for (const NodeIndex node : nodes) {
        while (trial.Placed() < end && trial.Fits(node)) trial.Put(node);
      }
    }
  }

  MakeShares make_shares_;
  Choose choose_;
};

// Pods for each leaf: the largest leaves as long as more than one is needed, then the one that
// holds the rest with least surplus. Whole slices in each. Empty when the leaves do not hold the
// gang.
Shares BestFitShares(const Shares& slots, std::int32_t pods, std::int32_t slice) {
  Shares shares(slots.size());
  std::int32_t left = pods / slice;
  while (left > 0) {
    std::optional<std::size_t> best;
    for (std::size_t leaf = 0; leaf < slots.size(); ++leaf) {
      const std::int32_t here = slots[leaf] / slice;
      if (shares[leaf] > 0 || here == 0) continue;
      if (!best) {
        best = leaf;
        continue;
      }
      const std::int32_t there = slots[*best] / slice;
      const bool both_hold = here >= left && there >= left;
      if (both_hold ? here < there : here > there) best = leaf;
    }
    if (!best) return {};
    const std::int32_t taken = std::min(slots[*best] / slice, left);
    shares[*best] = taken * slice;
    left -= taken;
  }
  return shares;
}

}  // namespace

std::unique_ptr<Policy> MakeKueueBestFit() {
  return std::make_unique<KueuePolicy>(&BestFitShares, KueuePolicy::Choose::kFullest);
}

std::unique_ptr<Policy> MakeKueueBalanced() {
  return std::make_unique<KueuePolicy>(&BalancedShares, KueuePolicy::Choose::kCheapest);
}

}  // namespace strata::replay
