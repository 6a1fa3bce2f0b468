#include <map>
#include <string_view>
#include <utility>

#include "model/cluster_state.h"

namespace strata {

void ClusterState::BeginNodeEpoch() {
  ++node_epoch_;
  domains_.clear();
}

const TopologyDomains& ClusterState::Domains(std::string_view label) const {
  if (const auto known = domains_.find(label); known != domains_.end()) return known->second;
  TopologyDomains domains;
  domains.of_node.assign(nodes_.size(), TopologyDomains::kNone);
  std::map<std::string_view, std::uint32_t> numbers;
  for (const NodeId id : live_nodes_) {
    const auto value = nodes_[id.index()].labels.find(label);
    if (value == nodes_[id.index()].labels.end()) continue;
    const auto number =
        numbers.try_emplace(value->second, static_cast<std::uint32_t>(numbers.size()));
    domains.of_node[id.index()] = number.first->second;
  }
  domains.count = static_cast<std::uint32_t>(numbers.size());
  return domains_.emplace(label, std::move(domains)).first->second;
}

}  // namespace strata
