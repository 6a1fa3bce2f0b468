#include "explain/own_names.h"

#include <algorithm>
#include <string_view>

#include "convert/specs.h"

namespace strata {
namespace {

constexpr std::string_view kTemplateHashKey = "pod-template-hash";
constexpr std::string_view kMadeForPods = "podgroup-";  // names that Volcano's controller gives

}  // namespace

Controller ControllerOf(const objects::Metadata& pod) {
  const auto owner = std::find_if(
      pod.owners.begin(), pod.owners.end(), [](const auto& each) { return each.controller; });
  if (owner == pod.owners.end()) return {};
  const std::string* hash = objects::Find(pod.labels, kTemplateHashKey);
  const std::string suffix = hash == nullptr ? "" : "-" + *hash;
  const bool of_deployment = owner->kind == "ReplicaSet" && suffix.size() > 1 &&
                             owner->name.size() > suffix.size() && owner->name.ends_with(suffix);
  if (!of_deployment) return {owner->kind, owner->name};
  return {"Deployment", owner->name.substr(0, owner->name.size() - suffix.size())};
}

OwnNames::OwnNames(const CompletedObjects& objects) {
  for (const auto& [job, group] : objects.group_of_job) names_.insert_or_assign(group, job);
  for (const objects::Pod& pod : objects.objects.pods) {
    const std::string group = GroupOf(pod);
    const std::string_view name = std::string_view(group).substr(group.find('/') + 1);
    if (group.empty() || !name.starts_with(kMadeForPods)) continue;
    const Controller controller = ControllerOf(pod.meta);
    // One that was made in a simulation is of one pod; a live one may be of a whole ReplicaSet.
    const bool of_pod = controller.kind.empty() || objects.made_groups.contains(group);
    names_.try_emplace(group, pod.meta.ns + "/" + (of_pod ? pod.meta.name : controller.name));
  }
}

const std::string& OwnNames::Of(const std::string& group) const& {
  const auto known = names_.find(group);
  return known == names_.end() ? group : known->second;
}

}  // namespace strata
