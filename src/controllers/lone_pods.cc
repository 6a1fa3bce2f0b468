#include "controllers/lone_pods.h"

#include <iterator>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "controllers/job_controller.h"
#include "controllers/object_meta.h"
#include "controllers/pod_group_reconcile.h"
#include "json/access.h"

namespace strata::controllers {
namespace {

using nlohmann::json;

constexpr char kOwnerMark = '=';  // in no name of a pod
constexpr std::size_t kMaxPodsOfPlan = 500;

std::string GroupNameOf(const std::string& owner_uid) {
  return "podgroup-" + owner_uid;
}

}  // namespace

LonePods::LonePods(const Cache& cache, std::function<bool(const std::string& scheduler)> is_ours)
    : cache_(cache), is_ours_(std::move(is_ours)) {}

std::string LonePods::KeyOf(const PodSeen& pod) {
  return KeyText({pod.key.ns, pod.owner_uid.empty() ? pod.key.name : kOwnerMark + pod.owner_uid});
}

std::optional<std::string> LonePods::KeyOfGroup(const json& group) {
  const std::string& owner = ControllerUidOf(group);
  if (owner.empty() || TextAt(group, {"metadata", "name"}) != GroupNameOf(owner)) {
    return std::nullopt;
  }
  // That of a single pod goes with its pod.
  for (const json& reference : ListAt(group, {"metadata", "ownerReferences"})) {
    if (TextAt(reference, {"uid"}) == owner && TextAt(reference, {"kind"}) == kube::kPods.kind) {
      return std::nullopt;
    }
  }
  return KeyText({TextAt(group, {"metadata", "namespace"}), kOwnerMark + owner});
}

Plan LonePods::Decide(const std::string& key) const {
  const kube::ObjectKey name = KeyFrom(key);
  if (name.name.starts_with(kOwnerMark)) return DecideOwner(name.ns, name.name.substr(1));
  Plan plan;
  AddPod(name, plan);
  return plan;
}

Plan LonePods::DecideOwner(const std::string& ns, const std::string& uid) const {
  Plan plan;
  const std::vector<PodSeen> pods = cache_.PodsOf(uid);
  for (const PodSeen& pod : pods) {
    if (plan.steps.size() == 2 && plan.steps.back().size() >= kMaxPodsOfPlan) {
      plan.again = Duration(0);
      return plan;
    }
    AddPod(pod.key, plan);
  }
  const ObjectRef group = cache_.Find(kube::kPodGroups, {ns, GroupNameOf(uid)});
  const bool is_left = pods.empty() && group != nullptr && !IsBeingDeleted(*group);
  if (is_left && KeyOfGroup(*group)) AddStep(plan, {DeleteOf(kube::kPodGroups, *group)});
  return plan;
}

void LonePods::AddPod(const kube::ObjectKey& key, Plan& plan) const {
  const ObjectRef pod = cache_.Find(kube::kPods, key);
  if (pod == nullptr || !is_ours_(TextAt(*pod, {"spec", "schedulerName"}))) return;
  Plan own = ReconcileLonePod(*pod);  // makes the group, then names it in the pod
  std::move(own.events.begin(), own.events.end(), std::back_inserter(plan.events));
  std::move(own.concerned.begin(), own.concerned.end(), std::back_inserter(plan.concerned));
  if (plan.steps.empty()) {
    plan.steps = std::move(own.steps);
  } else if (!own.steps.empty()) {
    std::move(own.steps.back().begin(), own.steps.back().end(), std::back_inserter(plan.steps[1]));
  }
}

}  // namespace strata::controllers
