#include "objects/default_pod_group.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "objects/annotation_values.h"
#include "objects/pod_request.h"
#include "objects/sort_by_name.h"
#include "objects/syntax.h"
#include "objects/text_check.h"
#include "objects/volcano_keys.h"

namespace strata::objects {
namespace {

tl::unexpected<Error> RefusePod(const Pod& pod, std::string_view field, const std::string& what) {
  return Fail(Code::kInvalidArgument,
              OneLine(fmt::format("{}: {}: {}", Location(pod.meta), field, what)));
}

tl::unexpected<Error> RefuseAnnotation(const Pod& pod,
                                       std::string_view key,
                                       const std::string& problem) {
  return RefusePod(pod, fmt::format("metadata.annotations[{}]", key), problem);
}

Result<std::optional<NetworkTopology>> TopologyOf(const Pod& pod) {
  const std::string* mode = Find(pod.meta.annotations, kTopologyModeKey);
  const std::string* tier = Find(pod.meta.annotations, kTopologyTierKey);
  if (mode == nullptr && tier == nullptr) return std::nullopt;
  NetworkTopology topology;
  if (mode != nullptr) {
    const std::optional<TopologyMode> known = TopologyModeFrom(*mode);
    if (!known) {
      return RefuseAnnotation(pod, kTopologyModeKey, AnnotationProblem(kTopologyModeKey, *mode));
    }
    topology.mode = *known;
  }
  if (tier != nullptr) {
    if (const std::string problem = AnnotationProblem(kTopologyTierKey, *tier); !problem.empty()) {
      return RefuseAnnotation(pod, kTopologyTierKey, problem);
    }
    topology.highest_tier_allowed = ParseInt32(*tier);
  }
  return topology;
}

}  // namespace

Result<PodGroup> MakeDefaultPodGroup(const Pod& pod, std::vector<std::string>& warnings) {
  PodGroup group;
  group.meta.kind = "PodGroup";
  group.meta.name = group.meta.uid = "podgroup-" + pod.meta.uid;
  group.meta.ns = pod.meta.ns;
  group.meta.created = pod.meta.created;
  group.meta.origin = Location(pod.meta);
  group.meta.owners = {OwnerReference{"v1", "Pod", pod.meta.name, pod.meta.uid, true}};
  for (const std::string_view key : kInheritedAnnotations) {
    if (const std::string* value = Find(pod.meta.annotations, key)) {
      group.meta.annotations[std::string(key)] = *value;
    }
  }
  for (const std::string_view key : kInheritedLabels) {
    if (const std::string* value = Find(pod.meta.labels, key)) {
      group.meta.labels[std::string(key)] = *value;
    }
  }
  group.min_member = 1;
  const std::string* queue = Find(pod.meta.annotations, kPodQueueNameKey);
  if (queue != nullptr && !queue->empty()) group.queue = *queue;
  group.priority_class_name = pod.spec.priority_class_name;
  group.min_resources = QuotaUsage(pod);
  for (const auto& [name, amount] : *group.min_resources) {
    if (const std::string problem = TooLarge(name, amount); !problem.empty()) {
      return RefusePod(pod, "spec.containers: requests", fmt::format("{}: {}", name, problem));
    }
  }
  Result<std::optional<NetworkTopology>> topology = TopologyOf(pod);
  if (topology) {
    group.topology = *topology;
  } else if (pod.spec.node_name.empty()) {
    return tl::unexpected<Error>(std::move(topology).error());
  } else {
    warnings.push_back(topology.error().message + std::string(kNotRefused));
  }
  return group;
}

Status AddDefaultPodGroups(ObjectSet& objects, const std::function<bool(const Pod&)>& takes) {
  std::set<std::string> known;
  for (const PodGroup& group : objects.pod_groups) known.insert(NamespacedName(group.meta));
  for (Pod& pod : objects.pods) {
    const std::string* named = Find(pod.meta.annotations, kGroupNameAnnotation);
    if ((named != nullptr && !named->empty()) || !takes(pod)) continue;
    TRY_ASSIGN(PodGroup group, MakeDefaultPodGroup(pod, objects.warnings));
    pod.meta.annotations[std::string(kGroupNameAnnotation)] = group.meta.name;
    if (!known.insert(NamespacedName(group.meta)).second) continue;
    objects.pod_groups.push_back(std::move(group));
  }
  SortByName(objects.pod_groups);
  std::sort(objects.warnings.begin(), objects.warnings.end());
  return {};
}

}  // namespace strata::objects
