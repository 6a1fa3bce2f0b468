#include "live/binder.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace strata::live {
namespace {

// Whether the text of a pod says that it has a node.
bool HasNode(const std::string& pod) {
  const auto read = nlohmann::json::parse(pod, nullptr, false);
  const auto spec = read.is_object() ? read.find("spec") : read.end();
  if (spec == read.end() || !spec->is_object()) return false;
  const auto node = spec->find("nodeName");
  return node != spec->end() && node->is_string() && !node->get_ref<const std::string&>().empty();
}

}  // namespace

std::string PodKey(const std::string& space, const std::string& name) {
  return "pods/" + space + "/" + name;
}

void Binder::Bind(BindOrder order, OnOutcome on_outcome) {
  kube::Call call = kube::BindCall(order.pod, order.node, order.annotations);
  const std::string key = PodKey(order.pod.space, order.pod.name);
  auto answered = [&client = client_, order = std::move(order), on_outcome](
                      const kube::Reply& reply) {
    if (reply) return on_outcome({Outcome::Kind::kBound, order, ""});
    const std::string error = reply.error().error.message;
    client.Start(
        kube::GetCall({kube::kPods, order.pod.space, order.pod.name, ""}),
        [order, on_outcome, error](const kube::Reply& pod) {
          const bool bound = pod && HasNode(*pod);
          on_outcome(
              {bound ? Outcome::Kind::kBound : Outcome::Kind::kFailed, order, bound ? "" : error});
        });
  };
  calls_.Submit(key, std::move(call), CallQueue::Urgency::kUrgent, std::move(answered));
}

}  // namespace strata::live
