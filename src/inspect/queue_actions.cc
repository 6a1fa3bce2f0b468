#include "inspect/queue_actions.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "json/dump.h"
#include "objects/write_parts.h"

namespace strata::inspect {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kCommandNamespace = "default";  // a Queue has none

// The body of the Command: owned by the Queue, and aimed at it.
std::string QueueCommandBody(const std::string& queue, const std::string& uid, QueueAction action) {
  const std::string name = action == QueueAction::kOpen ? "OpenQueue" : "CloseQueue";
  const Json target = {{"apiVersion", kube::ApiVersion(kube::kQueues)},
                       {"kind", kube::kQueues.kind},
                       {"name", queue},
                       {"uid", uid},
                       {"controller", true},
                       {"blockOwnerDeletion", true}};
  Json command = {{"apiVersion", kube::ApiVersion(kube::kCommands)},
                  {"kind", kube::kCommands.kind}};
  command["metadata"] = {{"generateName", queue + "-" + LowerCase(name) + "-"},
                         {"namespace", kCommandNamespace}};
  command["metadata"]["ownerReferences"] = Json::array({target});
  command["target"] = target;
  command["action"] = name;
  return DumpJson(command);
}

}  // namespace

std::string QueueBody(const NewQueue& queue) {
  Json spec = {{"weight", queue.weight}, {"reclaimable", queue.reclaimable}};
  if (queue.priority != 0) spec["priority"] = queue.priority;
  if (!queue.parent.empty()) spec["parent"] = queue.parent;
  if (!queue.capability.empty()) spec["capability"] = objects::WriteResources(queue.capability);
  if (!queue.deserved.empty()) spec["deserved"] = objects::WriteResources(queue.deserved);
  if (!queue.guarantee.empty()) {
    spec["guarantee"] = {{"resource", objects::WriteResources(queue.guarantee)}};
  }
  Json body = {{"apiVersion", kube::ApiVersion(kube::kQueues)}, {"kind", kube::kQueues.kind}};
  body["metadata"] = Json::object({{"name", queue.name}});
  body["spec"] = std::move(spec);
  return DumpJson(body);
}

Status CreateQueue(LiveCluster& cluster, const NewQueue& queue) {
  const kube::ResourcePath path{kube::kQueues, {}, {}, {}};
  TRY(cluster.Do(path, kube::CreateCall(path, QueueBody(queue))));
  return {};
}

Status DeleteQueue(LiveCluster& cluster, const std::string& queue) {
  const kube::ResourcePath path{kube::kQueues, {}, queue, {}};
  TRY(cluster.Do(path, kube::DeleteCall(path, {})));
  return {};
}

Result<std::string> FindQueueState(LiveCluster& cluster, const std::string& queue) {
  TRY_ASSIGN(const std::string text, cluster.Get({kube::kQueues, {}, queue, {}}));
  const Json json = Json::parse(text, nullptr, false);
  const auto status = json.find("status");
  if (status == json.end() || !status->is_object()) return "";
  const auto state = status->find("state");
  return state != status->end() && state->is_string() ? state->get<std::string>() : "";
}

Status SendQueueCommand(LiveCluster& cluster, const std::string& queue, QueueAction action) {
  TRY_ASSIGN(const std::string text, cluster.Get({kube::kQueues, {}, queue, {}}));
  TRY_ASSIGN(const kube::ObjectHead head, kube::ReadHead(text));
  const kube::ResourcePath commands{kube::kCommands, kCommandNamespace, {}, {}};
  TRY(cluster.Do(commands, kube::CreateCall(commands, QueueCommandBody(queue, head.uid, action))));
  return {};
}

}  // namespace strata::inspect
