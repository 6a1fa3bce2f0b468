#include "live/binder.h"

#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "convert/gpu_annotations.h"

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

// Nobody has said anything about the pod: the server is away, or not itself.
bool SaysNothing(const kube::Failure& failure) {
  if (failure.http_status == 0) return failure.cause != net::TransportError::Cause::kTrust;
  return failure.http_status >= 500;
}

// Asks until there is an answer: until then the bind may have been done, and the room may not go
// to another. The client waits longer and longer between its own attempts.
void LookInto(kube::Client& client,
              const BindOrder& order,
              const std::string& error,
              const Binder::OnOutcome& on_outcome) {
  using Kind = Binder::Outcome::Kind;
  client.Start(kube::GetCall({kube::kPods, order.pod.space, order.pod.name, ""}),
               [&client, order, error, on_outcome](const kube::Reply& pod) {
                 if (!pod && pod.error().cause == net::TransportError::Cause::kCancelled) return;
                 if (!pod && SaysNothing(pod.error())) {
                   return LookInto(client, order, error, on_outcome);
                 }
                 const bool bound = pod && HasNode(*pod);
                 on_outcome({bound ? Kind::kBound : Kind::kFailed, order, bound ? "" : error});
               });
}

}  // namespace

BindOrder MakeBindOrder(const ClusterState& state, const CycleResult::Bind& bind, Time now) {
  const Task& task = state.task(bind.task);
  const std::string& node = state.node(bind.node).name;
  const std::size_t slash = task.name.find('/');
  BindOrder order{.pod = {task.name.substr(0, slash), task.name.substr(slash + 1), task.uid},
                  .node = node,
                  .annotations = {}};
  const GpuClaim& gpus = state.GpusOf(bind.task);
  if (gpus.empty()) return order;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  for (const auto& [key, value] : WriteGpuClaim(gpus, node)) order.annotations[key] = value;
  order.annotations["hami.io/vgpu-time"] = std::to_string(seconds);
  order.annotations["hami.io/bind-time"] = std::to_string(seconds);
  order.annotations["hami.io/bind-phase"] = "allocating";  // what HAMi's device plugin looks for
  return order;
}

std::string PodKey(const std::string& space, const std::string& name) {
  return "pods/" + space + "/" + name;
}

void Binder::Bind(BindOrder order, OnOutcome on_outcome) {
  kube::Call call = kube::BindCall(order.pod, order.node, order.annotations);
  const std::string key = PodKey(order.pod.space, order.pod.name);
  auto answered = [&client = client_,
                   unsure = unsure_,
                   order = std::move(order),
                   on_outcome = std::move(on_outcome)](const kube::Reply& reply) {
    if (reply) return on_outcome({Outcome::Kind::kBound, order, ""});
    const kube::Failure& failure = reply.error();
    if (failure.sent == net::TransportError::Sent::kNo || !SaysNothing(failure)) {
      return LookInto(client, order, failure.error.message, on_outcome);
    }
    ++*unsure;
    LookInto(client, order, failure.error.message, [unsure, on_outcome](Outcome outcome) {
      --*unsure;
      on_outcome(std::move(outcome));
    });
  };
  calls_.Submit(key, std::move(call), CallQueue::Urgency::kUrgent, std::move(answered));
}

}  // namespace strata::live
