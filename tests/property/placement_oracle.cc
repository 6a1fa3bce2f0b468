#include "tests/property/placement_oracle.h"

#include <algorithm>
#include <ostream>
#include <set>

namespace strata::testing {
namespace {

int SpineOf(const TightCase& gang, int node) {
  return gang
      .spine_of_leaf[static_cast<std::size_t>(gang.nodes[static_cast<std::size_t>(node)].leaf)];
}

int LeafOf(const TightCase& gang, int node) {
  return gang.nodes[static_cast<std::size_t>(node)].leaf;
}

// The number of the domain of a tier that the node is in.
int DomainOf(const TightCase& gang, int node, int tier) {
  if (tier == 1) return LeafOf(gang, node);
  return tier == 2 ? SpineOf(gang, node) : 0;
}

bool AreEqual(const TightCase& gang) {
  return std::all_of(gang.pods.begin(), gang.pods.end(), [&](const TightPod& pod) {
    return pod.cpu == gang.pods.front().cpu && pod.memory == gang.pods.front().memory;
  });
}

// Tries every node for one pod after the other.
class Exhaustive {
 public:
  Exhaustive(const TightCase& gang, int tier, int domain)
      : gang_(gang), nodes_(gang.nodes), tier_(tier), domain_(domain) {
    part_at_.assign(gang.pods.size() + 1, -1);
  }

  // The fewest leaves; none when there is no place.
  std::optional<int> Run() {
    Place(0);
    return best_;
  }

 private:
  void Place(std::size_t pod) {
    if (best_ == 1) return;
    if (pod == gang_.pods.size()) {
      const std::set<int> leaves(leaves_.begin(), leaves_.end());
      const int count = static_cast<int>(leaves.size());
      best_ = std::min(best_.value_or(count), count);
      return;
    }
    // Without leaves to compare, one place is as good as another.
    if (best_ && !AreEqual(gang_)) return;
    const TightPod& wanted = gang_.pods[pod];
    for (std::size_t i = StartOf(pod); i < nodes_.size(); ++i) {
      const int node = static_cast<int>(i);
      if (DomainOf(gang_, node, tier_) != domain_) continue;
      if (nodes_[i].cpu < wanted.cpu || nodes_[i].memory < wanted.memory) continue;
      int& part_at = part_at_[static_cast<std::size_t>(wanted.part)];
      const int before = part_at;
      if (gang_.part_tier > 0) {
        const int own = DomainOf(gang_, node, gang_.part_tier);
        if (part_at >= 0 && part_at != own) continue;
        part_at = own;
      }
      nodes_[i].cpu -= wanted.cpu;
      nodes_[i].memory -= wanted.memory;
      leaves_.push_back(LeafOf(gang_, node));
      last_.push_back(i);
      Place(pod + 1);
      last_.pop_back();
      leaves_.pop_back();
      nodes_[i].cpu += wanted.cpu;
      nodes_[i].memory += wanted.memory;
      part_at = before;
    }
  }
  // The second of two equal pods that come one after the other takes no node before the first.
  [[nodiscard]] std::size_t StartOf(std::size_t pod) const {
    if (pod == 0) return 0;
    const TightPod& a = gang_.pods[pod - 1];
    const TightPod& b = gang_.pods[pod];
    return a.cpu == b.cpu && a.memory == b.memory && a.part == b.part ? last_.back() : 0;
  }

  const TightCase& gang_;
  std::vector<TightNode> nodes_;
  int tier_;
  int domain_;
  std::vector<int> part_at_;
  std::vector<int> leaves_;
  std::vector<std::size_t> last_;
  std::optional<int> best_;
};

rc::Gen<TightNode> AnyNode(int leaves) {
  return rc::gen::apply(
      [](int cpu, int memory, int leaf) {
        return TightNode{.cpu = cpu, .memory = memory, .leaf = leaf};
      },
      rc::gen::inRange(0, 9),
      rc::gen::inRange(1, 9),
      rc::gen::inRange(0, leaves));
}

rc::Gen<TightPod> AnyPod(TightKind kind) {
  return rc::gen::apply(
      [kind](int shape, int part) {
        // The first needs much memory, the second many cores.
        static constexpr int kShapes[][2] = {{2, 2}, {1, 4}, {4, 1}, {3, 3}};
        const auto& [cpu, memory] = kShapes[kind == TightKind::kEqual ? 0 : shape];
        return TightPod{.cpu = cpu, .memory = memory, .part = kind == TightKind::kParts ? part : 0};
      },
      rc::gen::inRange(0, 4),
      rc::gen::inRange(0, 3));
}

}  // namespace

void showValue(const TightCase& gang, std::ostream& os) {
  os << "highest tier " << gang.job_tier << ", of sub-groups " << gang.part_tier << "\n";
  for (const TightNode& node : gang.nodes) {
    os << "node: " << node.cpu << " cores, " << node.memory << " GiB, leaf " << node.leaf
       << ", spine " << gang.spine_of_leaf[static_cast<std::size_t>(node.leaf)] << "\n";
  }
  for (const TightPod& pod : gang.pods) {
    os << "pod: " << pod.cpu << " cores, " << pod.memory << " GiB, part " << pod.part << "\n";
  }
}

rc::Gen<TightCase> AnyTightCase(TightKind kind, int nodes, int pods) {
  constexpr int kLeaves = 4;
  const auto shape = [kind](std::vector<TightNode> all,
                            std::vector<TightPod> gang,
                            std::vector<int> spines,
                            int job_tier,
                            int part_tier) {
    TightCase made;
    made.nodes = std::move(all);
    made.pods = std::move(gang);
    made.spine_of_leaf = std::move(spines);
    made.job_tier = job_tier;
    if (kind == TightKind::kParts) made.part_tier = std::min(part_tier, job_tier);
    std::stable_sort(made.pods.begin(), made.pods.end(), [](const TightPod& a, const TightPod& b) {
      return a.part < b.part;
    });
    return made;
  };
  return rc::gen::mapcat(
      rc::gen::pair(rc::gen::inRange(2, nodes + 1), rc::gen::inRange(2, pods + 1)),
      [shape, kind](const std::pair<int, int>& counts) {
        return rc::gen::apply(shape,
                              rc::gen::container<std::vector<TightNode>>(
                                  static_cast<std::size_t>(counts.first), AnyNode(kLeaves)),
                              rc::gen::container<std::vector<TightPod>>(
                                  static_cast<std::size_t>(counts.second), AnyPod(kind)),
                              rc::gen::container<std::vector<int>>(
                                  static_cast<std::size_t>(kLeaves), rc::gen::inRange(0, 2)),
                              rc::gen::inRange(1, 4),
                              rc::gen::inRange(1, 3));
      });
}

int TierOf(const TightCase& gang, const TightPlaces& places) {
  for (const int tier : {1, 2}) {
    const int first = DomainOf(gang, places.front(), tier);
    if (std::all_of(places.begin(), places.end(), [&](int node) {
          return DomainOf(gang, node, tier) == first;
        })) {
      return tier;
    }
  }
  return 3;
}

int LeavesOf(const TightCase& gang, const TightPlaces& places) {
  std::set<int> leaves;
  for (const int node : places) leaves.insert(LeafOf(gang, node));
  return static_cast<int>(leaves.size());
}

int CrossingsOf(const TightCase& gang, const TightPlaces& places) {
  int crossings = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const int next = places[(i + 1) % places.size()];
    if (LeafOf(gang, places[i]) != LeafOf(gang, next)) ++crossings;
  }
  return crossings;
}

std::string WhatIsWrong(const TightCase& gang, const TightPlaces& places) {
  std::vector<TightNode> nodes = gang.nodes;
  for (std::size_t i = 0; i < places.size(); ++i) {
    TightNode& node = nodes[static_cast<std::size_t>(places[i])];
    node.cpu -= gang.pods[i].cpu;
    node.memory -= gang.pods[i].memory;
    if (node.cpu < 0 || node.memory < 0) return "a node is too full";
    for (std::size_t j = 0; j < i && gang.part_tier > 0; ++j) {
      if (gang.pods[i].part == gang.pods[j].part &&
          DomainOf(gang, places[i], gang.part_tier) != DomainOf(gang, places[j], gang.part_tier)) {
        return "a sub-group is apart";
      }
    }
  }
  return TierOf(gang, places) > gang.job_tier ? "the gang is apart" : "";
}

std::optional<TightBest> BestPlace(const TightCase& gang) {
  for (int tier = 1; tier <= gang.job_tier; ++tier) {
    std::set<int> domains;
    for (std::size_t i = 0; i < gang.nodes.size(); ++i) {
      domains.insert(DomainOf(gang, static_cast<int>(i), tier));
    }
    std::optional<int> fewest;
    for (const int domain : domains) {
      const auto leaves = Exhaustive(gang, tier, domain).Run();
      if (leaves) fewest = std::min(fewest.value_or(*leaves), *leaves);
    }
    const bool comparable = AreEqual(gang) && gang.part_tier == 0;
    if (fewest) return TightBest{.tier = tier, .leaves = comparable ? fewest : std::nullopt};
  }
  return std::nullopt;
}

int FewestCrossings(const TightCase& gang, TightPlaces places) {
  std::sort(places.begin(), places.end());
  int fewest = static_cast<int>(places.size());
  do {
    fewest = std::min(fewest, CrossingsOf(gang, places));
  } while (std::next_permutation(places.begin(), places.end()));
  return fewest;
}

}  // namespace strata::testing
