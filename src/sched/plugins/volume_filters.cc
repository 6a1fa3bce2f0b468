#include "sched/plugins/volume_filters.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

namespace strata {
namespace {

bool MatchesAll(const std::vector<VolumeRules::AnyOf>& rules, const NodeSpec& node) {
  return std::all_of(rules.begin(), rules.end(), [&](const VolumeRules::AnyOf& terms) {
    return std::any_of(terms.begin(), terms.end(), [&](const NodeSelectorTerm& term) {
      return term.Matches(node.name, node.labels);
    });
  });
}

// A node that says nothing of zones is in every one of them.
bool HasZone(const NodeSpec& node) {
  constexpr std::array<std::string_view, 4> kLabels = {"topology.kubernetes.io/zone",
                                                       "topology.kubernetes.io/region",
                                                       "failure-domain.beta.kubernetes.io/zone",
                                                       "failure-domain.beta.kubernetes.io/region"};
  return std::any_of(kLabels.begin(), kLabels.end(), [&](std::string_view label) {
    return node.labels.contains(label);
  });
}

}  // namespace

std::string VolumeFilters::RefuseSpec(const VolumeRules& volumes, const NodeSpec& node) const {
  if (binding && !volumes.refusal.empty()) return volumes.refusal;
  if (zones && !volumes.zones.empty() && HasZone(node) && !MatchesAll(volumes.zones, node)) {
    return "node(s) had no available volume zone";
  }
  if (binding && !MatchesAll(volumes.bound, node)) {
    return "node(s) didn't match PersistentVolume's node affinity";
  }
  if (binding && !MatchesAll(volumes.waiting, node)) {
    return "node(s) didn't find available persistent volumes to bind";
  }
  return "";
}

bool VolumeFilters::ExceedsLimit(const ClusterState& state,
                                 const VolumeRules& volumes,
                                 NodeId id) const {
  if (!limits || volumes.attached.empty()) return false;
  const VolumeLimits& max = state.nodes().spec(id).volume_limits;
  if (max.empty()) return false;
  std::set<AttachedVolume> attached;
  for (const TaskId task : state.nodes().TasksOn(id)) {
    const VolumeRules& others = state.classes().spec(state.workload().task(task).class_id).volumes;
    attached.insert(others.attached.begin(), others.attached.end());
  }
  std::set<std::string_view> grown;  // drivers that would attach more than now
  for (const AttachedVolume& volume : volumes.attached) {
    if (attached.insert(volume).second) grown.insert(volume.driver);
  }
  std::map<std::string_view, std::int32_t> counts;
  for (const AttachedVolume& volume : attached) ++counts[volume.driver];
  return std::any_of(grown.begin(), grown.end(), [&](std::string_view driver) {
    const auto limit = max.find(driver);
    return limit != max.end() && counts[driver] > limit->second;
  });
}

}  // namespace strata
