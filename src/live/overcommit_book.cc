#include "live/overcommit_book.h"

#include <span>

#include <fmt/format.h>

#include "convert/amounts.h"

namespace strata::live {
namespace {

// What the pods of a node request beyond what it has; "" when all have their room.
std::string ExcessOn(const ClusterState& state, NodeId node) {
  const std::span<const Amount> idle = state.nodes().Idle(node);
  std::string text;
  for (std::size_t i = 0; i < idle.size(); ++i) {
    if (idle[i] >= 0) continue;
    const std::string& name = state.resource_names().name(IdAt<ResourceId>(i));
    const Amount has = state.nodes().spec(node).allocatable.Get(IdAt<ResourceId>(i));
    text += fmt::format("{}pods request {} {}, the node has {}",
                        text.empty() ? "" : ", ",
                        ToQuantity(name, has - idle[i]).ToString(),
                        name,
                        ToQuantity(name, has).ToString());
  }
  return text;
}

}  // namespace

std::vector<OvercommitBook::Finding> OvercommitBook::TakeNew(const ClusterState& state) {
  const NodeTable& nodes = state.nodes();
  const auto touched = nodes.TouchedSince(seen_);
  seen_ = nodes.NextVersion();
  std::set<NodeId> changed;
  for (const NodeId node : touched.value_or(nodes.all())) changed.insert(node);
  std::vector<Finding> found;
  for (const NodeId node : changed) {
    const std::string& name = nodes.spec(node).name;
    const std::string excess = ExcessOn(state, node);
    if (excess.empty()) {
      known_.erase(name);
    } else if (known_.insert(name).second) {
      found.push_back({name, excess + "; nothing is placed there until it fits again"});
    }
  }
  return found;
}

}  // namespace strata::live
