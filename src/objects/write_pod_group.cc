#include "objects/write_pod_group.h"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "objects/write_parts.h"

namespace strata::objects {
namespace {

using Json = nlohmann::ordered_json;

Json WriteSubGroup(const SubGroupPolicy& policy) {
  Json json = {{"name", policy.name},
               {"subGroupSize", policy.sub_group_size},
               {"minSubGroups", policy.min_sub_groups}};
  if (policy.topology) json["networkTopology"] = WriteTopology(*policy.topology);
  if (policy.selector) json["labelSelector"] = WriteLabelSelector(*policy.selector);
  if (!policy.match_label_keys.empty()) json["matchLabelKeys"] = policy.match_label_keys;
  return json;
}

}  // namespace

Json WritePodGroup(const PodGroup& group) {
  Json spec = {{"minMember", group.min_member}, {"queue", group.queue}};
  if (!group.min_task_member.empty()) spec["minTaskMember"] = group.min_task_member;
  if (!group.priority_class_name.empty()) spec["priorityClassName"] = group.priority_class_name;
  if (group.min_resources) spec["minResources"] = WriteResources(*group.min_resources);
  if (group.topology) spec["networkTopology"] = WriteTopology(*group.topology);
  for (const SubGroupPolicy& policy : group.sub_groups) {
    spec["subGroupPolicy"].push_back(WriteSubGroup(policy));
  }
  return {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
          {"kind", "PodGroup"},
          {"metadata", WriteMetadata(group.meta)},
          {"spec", std::move(spec)},
          {"status", {{"phase", std::string(ToString(group.phase))}}}};
}

}  // namespace strata::objects
