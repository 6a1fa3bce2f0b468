#include "sched/topology_limit.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata {
namespace {

TopologyLimit Impossible(std::string reason, std::string message) {
  TopologyLimit limit;
  limit.kind = TopologyLimit::Kind::kImpossible;
  limit.refusal = {std::move(reason), std::move(message)};
  return limit;
}

TopologyLimit Bounded(std::int32_t tier) {
  TopologyLimit limit;
  limit.kind = TopologyLimit::Kind::kBounded;
  limit.tier = tier;
  return limit;
}

TopologyLimit HardByName(const HyperNodeTree& tree, const std::string& name) {
  if (const auto tier = tree.TierOfName(name)) return Bounded(*tier);
  for (const HyperNodeTree::HyperNode& hypernode : tree.hypernodes()) {
    if (hypernode.in_tree || hypernode.tier_name != name) continue;
    return Impossible(
        "UnknownTierName",
        fmt::format(
            "networkTopology.highestTierName: no HyperNode in the tree has tierName \"{}\": "
            "HyperNode {} has it, but is invalid and excluded",
            name,
            hypernode.name));
  }
  const std::vector<std::string> known = tree.TierNames();
  return Impossible(
      "UnknownTierName",
      fmt::format("networkTopology.highestTierName: no HyperNode has tierName \"{}\" ({})",
                  name,
                  known.empty() ? "no HyperNode has a tierName"
                                : fmt::format("known: {}", fmt::join(known, ", "))));
}

// The highest tier of a HyperNode that is left out of the tree; none when all are in it.
std::optional<std::int32_t> HighestLeftOut(const HyperNodeTree& tree) {
  std::optional<std::int32_t> highest;
  for (const HyperNodeTree::HyperNode& hypernode : tree.hypernodes()) {
    if (!hypernode.in_tree) highest = std::max(highest.value_or(hypernode.tier), hypernode.tier);
  }
  return highest;
}

// One real HyperNode, of any tier; where none is in the tree, of any that was written.
TopologyLimit HardOfAnyTier(const HyperNodeTree& tree, std::int32_t top) {
  TopologyLimit limit = Bounded(top - 1);
  if (tree.at(tree.top()).children.empty()) limit.written = HighestLeftOut(tree);
  return limit;
}

}  // namespace

TopologyLimit ResolveLimit(const HyperNodeTree& tree,
                           const TopologySpec& spec,
                           const TopologyLimit& outer,
                           bool can_search) {
  if (!spec.present()) return {};
  const std::int32_t top = tree.at(tree.top()).tier;
  const bool hard = spec.mode == TopologySpec::Mode::kHard;
  if (!can_search) {
    if (!hard) return {};
    return Impossible("TopologyPluginDisabled",
                      "networkTopology mode hard needs the plugin network-topology-aware, which "
                      "the scheduler configuration "
                      "does not enable");
  }
  // Documented behaviour: without HyperNodes a topology job is scheduled as usual.
  if (!tree.has_hypernodes()) return Bounded(top);
  if (!hard) {
    if (outer.kind != TopologyLimit::Kind::kBounded) return Bounded(top);
    TopologyLimit limit = Bounded(outer.tier);
    limit.written = outer.written;
    return limit;
  }
  if (!spec.highest_tier_name.empty()) return HardByName(tree, spec.highest_tier_name);
  if (!spec.highest_tier) return HardOfAnyTier(tree, top);
  if (*spec.highest_tier < top) return Bounded(*spec.highest_tier);
  // A limit is lifted only when it is above every HyperNode that was written. An invalid HyperNode
  // of that tier, excluded from the tree, must not lift it.
  TopologyLimit limit = Bounded(top);
  if (HighestLeftOut(tree).value_or(top - 1) >= top) {
    limit.tier = top - 1;
    limit.written = *spec.highest_tier;
    return limit;
  }
  limit.warning = fmt::format(
      "networkTopology.highestTierAllowed {} is above every HyperNode (highest tier {}), so the "
      "job "
      "may span the whole cluster",
      *spec.highest_tier,
      top - 1);
  return limit;
}

}  // namespace strata
