#include "admission/admission.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/problems.h"
#include "json/access.h"
#include "json/parse.h"

namespace strata::admission {
namespace {

using nlohmann::json;

constexpr std::string_view kCore;
constexpr std::string_view kScheduling = "scheduling.k8s.io";
constexpr std::string_view kStorage = "storage.k8s.io";
constexpr std::string_view kVolcanoScheduling = "scheduling.volcano.sh";

constexpr std::array kRules = {
    KindRules{kCore, "Pod", CreatePod, UpdatePod, UpdatePodStatus},
    KindRules{kCore, "Node", CreateNode, UpdateNode, UpdateNodeStatus},
    KindRules{
        kCore, "Namespace", CreateNamespace, UpdateNamespace, UpdateNamespace, DeleteNamespace},
    KindRules{kCore, "Event", CreateEvent},
    KindRules{kCore, "Secret", CreateSecret, UpdateSecret},
    KindRules{kCore, "ConfigMap", CreateConfigMap, UpdateConfigMap},
    KindRules{kCore, "Service", CreateService, UpdateService},
    KindRules{kCore, "PersistentVolume", CreateVolume, UpdateVolume},
    KindRules{kCore, "PersistentVolumeClaim", CreateClaim, UpdateClaim},
    KindRules{kCore, "ResourceQuota", CreateQuota, UpdateQuota},
    KindRules{kScheduling, "PriorityClass", CreatePriorityClass, UpdatePriorityClass},
    KindRules{"coordination.k8s.io", "Lease", CreateLease, UpdateLease},
    KindRules{"policy", "PodDisruptionBudget", CreateBudget, UpdateBudget},
    KindRules{kStorage, "StorageClass", CreateStorageClass, UpdateStorageClass},
    KindRules{"authorization.k8s.io", "SelfSubjectAccessReview", CreateAccessReview},
    KindRules{"batch.volcano.sh", "Job", CreateJob, UpdateJob},
    KindRules{kVolcanoScheduling, "PodGroup", CreatePodGroup, UpdatePodGroup},
    KindRules{
        kVolcanoScheduling, "Queue", CreateQueue, UpdateQueue, UpdateQueueStatus, DeleteQueue},
    KindRules{"topology.volcano.sh", "HyperNode", CreateHyperNode, UpdateHyperNode},
};

const KindRules& RulesOf(const ResourceInfo& resource) {
  static constexpr KindRules kNone = {};
  const auto found = std::find_if(kRules.begin(), kRules.end(), [&](const KindRules& rules) {
    return rules.kind == resource.kind && rules.group == resource.group;
  });
  return found == kRules.end() ? kNone : *found;
}

ApiResult<void> ToResult(const AdmissionContext& context, const json& object, Problems& problems) {
  if (problems.empty()) return {};
  return tl::unexpected(
      Invalid(context.resource, TextAt(object, {"metadata", "name"}), problems.Take()));
}

}  // namespace

ApiResult<void> AdmitCreate(const AdmissionContext& context, json& object) {
  Problems problems;
  // What is only asked, never kept, needs no name.
  if (!context.resource.read_only) CheckNewMetadata(context.resource, object, problems);
  if (const CreateRule rule = RulesOf(context.resource).create) {
    if (auto admitted = rule(context, object, problems); !admitted) return admitted;
  }
  return ToResult(context, object, problems);
}

ApiResult<void> AdmitUpdate(const AdmissionContext& context,
                            const json& before,
                            json& after,
                            std::string_view subresource) {
  Problems problems;
  const Edit edit{before, after};
  CheckChangedMetadata(context.resource, edit, problems);
  const KindRules& rules = RulesOf(context.resource);
  UpdateRule rule = nullptr;
  if (subresource.empty()) rule = rules.update;
  if (subresource == "status") rule = rules.update_status;
  if (rule != nullptr) {
    if (auto admitted = rule(context, edit, problems); !admitted) return admitted;
  }
  return ToResult(context, after, problems);
}

ApiResult<void> AdmitDelete(const AdmissionContext& context, const json& object) {
  const DeleteRule rule = RulesOf(context.resource).remove;
  return rule == nullptr ? ApiResult<void>() : rule(context, object);
}

std::optional<json> ReadStored(const ObjectReader& store, const ObjectKey& key) {
  const ObjectRef found = store.GetLatest(key);
  if (found == nullptr) return std::nullopt;
  return ParseJsonOrNull(found->body);
}

}  // namespace strata::admission
