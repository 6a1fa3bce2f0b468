#include "objects/default_pod_group.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "objects/pod_request.h"
#include "objects/sort_by_name.h"
#include "objects/volcano_keys.h"

namespace strata::objects {
namespace {

bool EqualsIgnoringCase(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

Result<std::optional<NetworkTopology>> TopologyOf(const Pod& pod) {
  const std::string* mode = Find(pod.meta.annotations, kTopologyModeKey);
  const std::string* tier = Find(pod.meta.annotations, kTopologyTierKey);
  if (mode == nullptr && tier == nullptr) return std::nullopt;
  NetworkTopology topology;
  if (mode != nullptr && EqualsIgnoringCase(*mode, "soft")) topology.mode = TopologyMode::kSoft;
  if (tier != nullptr) {
    std::int32_t value = -1;
    const auto [end, error] = std::from_chars(tier->data(), tier->data() + tier->size(), value);
    if (error != std::errc() || end != tier->data() + tier->size() || value < 0) {
      if (!pod.spec.node_name.empty()) return std::nullopt;  // it is placed, and never refused
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: {}: metadata.annotations[{}]: found \"{}\", want an integer of "
                              "at least 0",
                              pod.meta.source,
                              ObjectName(pod.meta),
                              kTopologyTierKey,
                              tier->substr(0, 60)));
    }
    topology.highest_tier_allowed = value;
  }
  return topology;
}

}  // namespace

Result<PodGroup> MakeDefaultPodGroup(const Pod& pod) {
  PodGroup group;
  group.meta.kind = "PodGroup";
  group.meta.name = group.meta.uid = "podgroup-" + pod.meta.uid;
  group.meta.ns = pod.meta.ns;
  group.meta.created = pod.meta.created;
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
  group.min_resources = PodRequest(pod);
  TRY_ASSIGN(group.topology, TopologyOf(pod));
  return group;
}

Status AddDefaultPodGroups(ObjectSet& objects, const std::function<bool(const Pod&)>& takes) {
  std::set<std::string> known;
  for (const PodGroup& group : objects.pod_groups) known.insert(NamespacedName(group.meta));
  for (Pod& pod : objects.pods) {
    const std::string* named = Find(pod.meta.annotations, kGroupNameAnnotation);
    if ((named != nullptr && !named->empty()) || !takes(pod)) continue;
    TRY_ASSIGN(PodGroup group, MakeDefaultPodGroup(pod));
    pod.meta.annotations[std::string(kGroupNameAnnotation)] = group.meta.name;
    if (!known.insert(NamespacedName(group.meta)).second) continue;
    objects.pod_groups.push_back(std::move(group));
  }
  SortByName(objects.pod_groups);
  return {};
}

}  // namespace strata::objects
