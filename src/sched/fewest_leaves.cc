#include "sched/fewest_leaves.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

namespace strata {
namespace {

using LeafCounts = std::map<HyperNodeId, std::uint64_t>;

LeafCounts CountByLeaf(const Session& session, std::span<const TaskId> tasks) {
  const HyperNodeTree& tree = session.tree();
  LeafCounts counts;
  auto last = counts.end();
  for (const TaskId id : tasks) {
    const HyperNodeId leaf = tree.LeafOf(tree.ChainOf(session.state().workload().task(id).node));
    if (last == counts.end() || last->first != leaf) last = counts.try_emplace(leaf, 0).first;
    ++last->second;
  }
  return counts;
}

// True when the leaf cannot hold more than `pods`, whatever runs there. What is idle says less:
// where a node holds more than it is large, the sum is less than what the other nodes have.
bool HoldsAtMost(std::uint64_t pods,
                 const Session& session,
                 const Resources& request,
                 HyperNodeId leaf) {
  const std::span<const Amount> whole = session.state().sums().Allocatable(leaf);
  for (std::size_t r = 0; r < request.size(); ++r) {
    const Amount asked = request.amounts()[r];
    if (asked <= 0) continue;
    const Amount room = r < whole.size() ? std::max<Amount>(whole[r], 0) / asked : 0;
    if (static_cast<std::uint64_t>(room) <= pods) return true;
  }
  return false;
}

struct Leaf {
  HyperNodeId id;
  std::size_t first = 0;  // in the order of the tree
  std::uint64_t slots = 0;
};

std::vector<Leaf> LeavesOf(const DomainShape& shape) {
  std::vector<Leaf> leaves;
  std::set<HyperNodeId> seen;
  for (std::size_t g = 0; g < shape.groups.size(); ++g) {
    const HyperNodeId leaf = shape.groups[g].leaf;
    if (!leaves.empty() && leaves.back().id == leaf) continue;
    if (seen.insert(leaf).second) leaves.push_back({.id = leaf, .first = g, .slots = 0});
  }
  return leaves;
}

void CountSlots(Session& session,
                const DomainShape& shape,
                ClassView& view,
                const LeafCounts& placed,
                std::vector<Leaf>& leaves) {
  std::map<HyperNodeId, std::uint64_t> slots = placed;
  for (const DomainShape::Group& group : shape.groups) {
    std::uint64_t& sum = slots[group.leaf];
    for (std::size_t i = group.begin; i < group.end; ++i) sum += view.Slots(shape.nodes[i]);
  }
  session.Look(shape.nodes.size());
  for (Leaf& leaf : leaves) leaf.slots = slots[leaf.id];
}

// The fewest of the leaves that have so many slots.
std::set<HyperNodeId> Choose(std::vector<Leaf> leaves, std::uint64_t wanted) {
  std::stable_sort(
      leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) { return a.slots > b.slots; });
  std::set<HyperNodeId> chosen;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].slots < wanted) {
      chosen.insert(leaves[i].id);
      wanted -= leaves[i].slots;
      continue;
    }
    std::size_t last = i;
    for (std::size_t j = i; j < leaves.size() && leaves[j].slots >= wanted; ++j) {
      if (leaves[j].slots < leaves[last].slots) last = j;
    }
    chosen.insert(leaves[last].id);
    break;
  }
  return chosen;
}

}  // namespace

bool MayNeedFewer(const Session& session,
                  const DomainShape& shape,
                  ClassId class_id,
                  const PlaceOutcome& placed) {
  if (placed.leaves < 2) return false;
  const Resources& request = session.state().classes().spec(class_id).request;
  // With one leaf less, one of the others must take more than that.
  const std::uint64_t even = (placed.placed - 1) / (placed.leaves - 1);
  return std::any_of(shape.groups.begin(), shape.groups.end(), [&](const auto& group) {
    return !HoldsAtMost(even, session, request, group.leaf);
  });
}

std::optional<LeafChoice> FewerLeaves(Session& session,
                                      const DomainShape& shape,
                                      std::span<const TaskId> placed) {
  const LeafCounts opened = CountByLeaf(session, placed);
  if (opened.size() < 2) return std::nullopt;
  ClassView& view = session.views().Of(session.state().workload().task(placed.front()).class_id);
  if (view.Peers() != nullptr || view.LooksBeyondNodes()) return std::nullopt;
  std::vector<Leaf> leaves = LeavesOf(shape);
  CountSlots(session, shape, view, opened, leaves);
  const std::set<HyperNodeId> chosen = Choose(std::move(leaves), placed.size());
  if (chosen.size() >= opened.size()) return std::nullopt;
  LeafChoice choice;
  for (DomainShape::Group group : shape.groups) {
    if (!chosen.contains(group.leaf)) continue;
    const auto begin = shape.nodes.begin() + group.begin;
    const auto end = shape.nodes.begin() + group.end;
    group.begin = static_cast<std::uint32_t>(choice.nodes.size());
    choice.nodes.insert(choice.nodes.end(), begin, end);
    group.end = static_cast<std::uint32_t>(choice.nodes.size());
    choice.groups.push_back(group);
  }
  return choice;
}

}  // namespace strata
