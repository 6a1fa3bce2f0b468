#include "webhooks/admit.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/admission.h"
#include "admission/api_error.h"
#include "json/access.h"
#include "webhooks/gpu_pods.h"
#include "webhooks/opt_in_rules.h"

namespace strata::webhooks {
namespace {

using admission::AdmissionContext;
using admission::ApiResult;
using nlohmann::json;

constexpr std::string_view kGpuPath = "/gpus/mutate";

admission::ResourceInfo RowOf(const Webhook& webhook) {
  admission::ResourceInfo row;
  row.group = webhook.group;
  row.version = webhook.version;
  row.kind = webhook.kind;
  row.plural = webhook.plural;
  row.custom = !row.group.empty();
  return row;
}

Operation OperationOf(const Review& review) {
  if (review.operation == "CREATE") return kCreate;
  if (review.operation == "UPDATE") return kUpdate;
  return review.operation == "DELETE" ? kDelete : Operation{};
}

// A Job that names no scheduler is for the first of ours, as in Volcano.
void NameScheduler(const std::vector<std::string>& names, json& job) {
  json* spec = FindAt(job, {"spec"});
  if (spec == nullptr || !spec->is_object() || names.empty()) return;
  json& name = (*spec)["schedulerName"];
  if (name.is_null() || name == json("")) name = names.front();
}

json Mutated(const Webhook& webhook, const Review& review, const Circumstances& around) {
  json object = review.object;
  if (webhook.kind == "Pod") {
    ApplyResourceGroup(around.conf, review.ns, object);
  } else if (webhook.kind == "PodGroup") {
    SetQueueOfNamespace(around.objects, review.ns, object);
  } else {
    if (webhook.kind == "Job") NameScheduler(around.scheduler_names, object);
    const admission::ResourceInfo row = RowOf(webhook);
    // What is wrong is told by the webhook that validates, once everybody has mutated.
    (void)admission::AdmitCreate({row, around.objects, around.now}, object);
  }
  return object;
}

ApiResult<void> Judge(const AdmissionContext& context, const Review& review) {
  json object = review.object;
  switch (OperationOf(review)) {
    case kCreate:
      return admission::AdmitCreate(context, object);
    case kUpdate:
      return admission::AdmitUpdate(context, review.old_object, object, "");
    case kDelete:
      return admission::AdmitDelete(context, review.old_object);
  }
  return {};
}

std::optional<std::string> Refusal(const Webhook& webhook,
                                   const Review& review,
                                   const Circumstances& around) {
  if (webhook.kind == "Pod") return BudgetRefusal(review.object, around.scheduler_names);
  const admission::ResourceInfo row = RowOf(webhook);
  auto admitted = Judge({row, around.objects, around.now, around.used_queues}, review);
  if (admitted) return std::nullopt;
  return std::move(admitted.error().message);
}

}  // namespace

Verdict Admit(const Webhook& webhook, const Review& review, const Circumstances& around) {
  Verdict verdict;
  if (review.group != webhook.group || review.plural != webhook.plural) {
    verdict.refusal = fmt::format("expect resource to be {}/{}", webhook.group, webhook.plural);
  } else if ((OperationOf(review) & webhook.operations) == 0) {
    verdict.refusal = fmt::format("invalid operation `{}`, expect operation to be {}",
                                  admission::Shortened(review.operation, 32),
                                  ShowOperations(webhook.operations));
  } else if (!review.subresource.empty()) {
    return verdict;  // status and the like belong to the controllers
  } else if (webhook.path == kGpuPath) {
    json pod = review.object;
    GpuVerdict gpus = CompleteGpuPod(around.scheduler_names, pod);
    verdict.refusal = std::move(gpus.refusal);
    verdict.warnings = std::move(gpus.warnings);
    verdict.patch = json::diff(review.object, pod);
  } else if (webhook.effect == Webhook::Effect::kMutate) {
    verdict.patch = json::diff(review.object, Mutated(webhook, review, around));
  } else {
    verdict.refusal = Refusal(webhook, review, around);
  }
  return verdict;
}

}  // namespace strata::webhooks
