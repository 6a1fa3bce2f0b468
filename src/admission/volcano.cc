#include <string>

#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/object_reading.h"
#include "admission/queue_rules.h"
#include "json/access.h"

namespace strata::admission {
namespace {

using nlohmann::json;

std::string QueueOf(const json& object) {
  const std::string& queue = TextAt(object, {"spec", "queue"});
  return queue.empty() ? "default" : queue;
}

}  // namespace

ApiResult<void> CreatePodGroup(const AdmissionContext& context, json& object, Problems& problems) {
  if (!CheckByReader<objects::PodGroup>(object, problems)) return {};
  CheckQueueTakes(context.store, QueueOf(object), "PodGroup", Leaf::kAny, problems);
  return {};
}

ApiResult<void> UpdatePodGroup(const AdmissionContext& /*context*/,
                               const Edit& edit,
                               Problems& problems) {
  CheckByReader<objects::PodGroup>(edit.after, problems);
  return {};
}

ApiResult<void> CreateHyperNode(const AdmissionContext& /*context*/,
                                json& object,
                                Problems& problems) {
  CheckByReader<objects::HyperNode>(object, problems);
  return {};
}

ApiResult<void> UpdateHyperNode(const AdmissionContext& /*context*/,
                                const Edit& edit,
                                Problems& problems) {
  CheckByReader<objects::HyperNode>(edit.after, problems);
  return {};
}

}  // namespace strata::admission
