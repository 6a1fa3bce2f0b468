#include "sched/eviction/contested.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace strata {

std::vector<ResourceId> ShortBelow(const Session& session,
                                   const Resources& need,
                                   HyperNodeId domain) {
  std::vector<ResourceId> asked;
  std::vector<ResourceId> lacking;
  for (std::size_t i = 0; i < need.size(); ++i) {
    const auto id = IdAt<ResourceId>(i);
    if (id == kPods || need.Get(id) <= 0) continue;
    asked.push_back(id);
    if (domain.valid() && need.Get(id) > session.state().sums().FutureIdle(domain)[i]) {
      lacking.push_back(id);
    }
  }
  return lacking.empty() ? asked : lacking;
}

std::vector<ResourceId> ShortBelow(const Session& session,
                                   const EvictionClaim& claim,
                                   const Wanted& wanted,
                                   HyperNodeId domain) {
  std::vector<ResourceId> by_sums = ShortBelow(session, claim.need.room, domain);
  if (by_sums != claim.contested) return by_sums;
  // Every sum is large enough, or none is: what is short is so node by node.
  const ClusterState& state = session.state();
  std::set<ResourceId> lacking;
  for (const auto& [class_id, count] : wanted) {
    const Resources& request = state.classes().spec(class_id).request;
    for (const ResourceId id : by_sums) {
      const Amount amount = request.Get(id);
      if (amount <= 0 || lacking.contains(id)) continue;
      Amount slots = 0;
      for (const NodeId node : session.tree().NodesOf(domain)) {
        slots += std::max<Amount>(state.nodes().FutureIdle(node)[id.index()], 0) / amount;
      }
      if (slots < static_cast<Amount>(count)) lacking.insert(id);
    }
  }
  return lacking.empty() ? by_sums : std::vector<ResourceId>(lacking.begin(), lacking.end());
}

std::vector<ResourceId> TakenFromOthers(const ClusterState& state, const Places& places) {
  std::map<NodeId, Resources> asked;
  for (const auto& [task, node] : places) {
    asked[node].AddSaturating(state.classes().spec(state.workload().task(task).class_id).request);
  }
  std::set<ResourceId> taken;
  for (const auto& [node, amounts] : asked) {
    const auto future = state.nodes().FutureIdle(node);
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      const auto id = IdAt<ResourceId>(i);
      if (id != kPods && amounts.Get(id) > 0 && amounts.Get(id) > future[i]) taken.insert(id);
    }
  }
  return {taken.begin(), taken.end()};
}

}  // namespace strata
