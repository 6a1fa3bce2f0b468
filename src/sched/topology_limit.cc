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
  const std::vector<std::string> known = tree.TierNames();
  return Impossible(
      "UnknownTierName",
      fmt::format("networkTopology.highestTierName \"{}\" is borne by no HyperNode ({})",
                  name,
                  known.empty() ? "no HyperNode has a tierName"
                                : fmt::format("known tier names: {}", fmt::join(known, ", "))));
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
  if (!hard) return Bounded(outer.kind == TopologyLimit::Kind::kBounded ? outer.tier : top);
  if (!spec.highest_tier_name.empty()) return HardByName(tree, spec.highest_tier_name);
  if (!spec.highest_tier) return Bounded(top - 1);  // one real HyperNode, of any tier
  if (*spec.highest_tier < top) return Bounded(*spec.highest_tier);
  // Only a limit above everything that was written is no limit. A HyperNode of that tier that is
  // left out of the tree for a fault must not set its jobs free.
  const auto all = tree.hypernodes();
  const bool written = std::any_of(all.begin(), all.end(), [&](const auto& hypernode) {
    return !hypernode.in_tree && hypernode.tier >= top;
  });
  if (written) return Bounded(top - 1);
  TopologyLimit limit = Bounded(top);
  limit.warning = fmt::format(
      "networkTopology.highestTierAllowed {} is above every HyperNode (highest tier {}), so the "
      "job "
      "may span the whole cluster",
      *spec.highest_tier,
      top - 1);
  return limit;
}

}  // namespace strata
