#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "admission/admission.h"
#include "admission/problems.h"

// The rules of each kind that admission.cc puts together. A rule fills in defaults, then adds what
// is wrong with the object to `problems` (422); what it returns is a refusal of another kind (403).
namespace strata::admission {

// A write that changes an object.
struct Edit {
  const nlohmann::json& before;
  nlohmann::json& after;
};

using CreateRule = ApiResult<void> (*)(const AdmissionContext& context,
                                       nlohmann::json& object,
                                       Problems& problems);
using UpdateRule = ApiResult<void> (*)(const AdmissionContext& context,
                                       const Edit& edit,
                                       Problems& problems);
using DeleteRule = ApiResult<void> (*)(const AdmissionContext& context,
                                       const nlohmann::json& object);

struct KindRules {
  std::string_view group;
  std::string_view kind;
  CreateRule create = nullptr;  // each may be missing
  UpdateRule update = nullptr;
  UpdateRule update_status = nullptr;
  DeleteRule remove = nullptr;
};

// pod.cc, pod_update.cc
ApiResult<void> CreatePod(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdatePod(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> UpdatePodStatus(const AdmissionContext&, const Edit&, Problems&);

// node.cc
ApiResult<void> CreateNode(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateNode(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> UpdateNodeStatus(const AdmissionContext&, const Edit&, Problems&);

// namespace.cc
ApiResult<void> CreateNamespace(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateNamespace(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> DeleteNamespace(const AdmissionContext&, const nlohmann::json&);
ApiResult<void> CreateEvent(const AdmissionContext&, nlohmann::json&, Problems&);

// config.cc
ApiResult<void> CreateSecret(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateSecret(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> CreateConfigMap(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateConfigMap(const AdmissionContext&, const Edit&, Problems&);

// service.cc
ApiResult<void> CreateService(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateService(const AdmissionContext&, const Edit&, Problems&);

// storage.cc
ApiResult<void> CreateVolume(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateVolume(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> CreateClaim(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateClaim(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> CreateStorageClass(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateStorageClass(const AdmissionContext&, const Edit&, Problems&);

// policy.cc
ApiResult<void> CreatePriorityClass(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdatePriorityClass(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> CreateBudget(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateBudget(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> CreateQuota(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateQuota(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> CreateLease(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateLease(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> CreateAccessReview(const AdmissionContext&, nlohmann::json&, Problems&);

// job.cc, volcano.cc
ApiResult<void> CreateJob(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateJob(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> CreatePodGroup(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdatePodGroup(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> CreateHyperNode(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateHyperNode(const AdmissionContext&, const Edit&, Problems&);

// queue.cc
ApiResult<void> CreateQueue(const AdmissionContext&, nlohmann::json&, Problems&);
ApiResult<void> UpdateQueue(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> UpdateQueueStatus(const AdmissionContext&, const Edit&, Problems&);
ApiResult<void> DeleteQueue(const AdmissionContext&, const nlohmann::json&);

// metadata_rules.cc: names, labels, annotations, finalizers, owners; and what must not change.
void CheckNewMetadata(const ResourceInfo& resource,
                      const nlohmann::json& object,
                      Problems& problems);
void CheckChangedMetadata(const ResourceInfo& resource, const Edit& edit, Problems& problems);
void CheckAnnotations(const nlohmann::json& annotations, Problems& problems);
// Labels at `field`, keys and values.
void CheckLabels(const nlohmann::json& labels, const std::string& field, Problems& problems);

// The latest state of another object, parsed; none when there is none.
[[nodiscard]] std::optional<nlohmann::json> ReadStored(const ObjectReader& store,
                                                       const ObjectKey& key);

}  // namespace strata::admission
