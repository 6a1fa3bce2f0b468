#include "controllers/pod_group_reconcile.h"

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "controllers/object_meta.h"
#include "controllers/pod_seen.h"
#include "json/access.h"
#include "json/dump.h"
#include "objects/default_pod_group.h"
#include "objects/load.h"
#include "objects/write_pod_group.h"

namespace strata::controllers {
namespace {

using nlohmann::json;

Result<objects::PodGroup> GroupOf(const json& pod) {
  const objects::Source source{.name = "pod", .text = DumpJson(pod)};
  TRY_ASSIGN(const objects::ObjectSet read, objects::ParseObjects({&source, 1}));
  if (read.pods.size() != 1) return Fail(Code::kInvalidArgument, "no Pod");
  std::vector<std::string> unheard;  // about pods that run already
  TRY_ASSIGN(objects::PodGroup group, objects::MakeDefaultPodGroup(read.pods.front(), unheard));
  for (const objects::OwnerReference& owner : read.pods.front().meta.owners) {
    if (!owner.controller) continue;
    group.meta.name = "podgroup-" + owner.uid;
    group.meta.owners = {owner};
  }
  return group;
}

}  // namespace

Plan ReconcileLonePod(const json& pod) {
  Plan plan;
  if (IsBeingDeleted(pod) || SeePod(pod).finished()) return plan;
  if (!TextAt(pod, {"metadata", "annotations", objects::kGroupNameAnnotation}).empty()) return plan;
  const Result<objects::PodGroup> group = GroupOf(pod);
  if (!group) {
    plan.events.push_back({.about = ReferenceTo(kube::kPods, pod),
                           .type = kube::EventNote::Type::kWarning,
                           .reason = "InvalidPod",
                           .message = group.error().message});
    return plan;
  }
  plan.concerned = {ReferenceTo(kube::kPods, pod)};
  json object = objects::WritePodGroup(*group);
  // Nobody waits for a PodGroup, and to make its owner wait takes a right on the owner, of whatever
  // kind that is, where the server enforces it.
  object["metadata"]["ownerReferences"][0].erase("blockOwnerDeletion");
  AddStep(plan, {CreateOf(kube::kPodGroups, object, group->meta.owners.front().uid)});
  const json annotation = {{std::string(objects::kGroupNameAnnotation), group->meta.name}};
  AddStep(plan,
          {PatchOf(kube::kPods,
                   pod,
                   {{"metadata",
                     {{"uid", TextAt(pod, {"metadata", "uid"})}, {"annotations", annotation}}}})});
  return plan;
}

}  // namespace strata::controllers
