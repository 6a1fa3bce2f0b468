#include "inspect/job_actions.h"

#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "json/dump.h"

namespace strata::inspect {
namespace {

using Json = nlohmann::ordered_json;

std::string_view ActionName(JobAction action) {
  return action == JobAction::kSuspend ? "AbortJob" : "ResumeJob";
}

}  // namespace

std::string CommandBody(const kube::ObjectKey& job, const std::string& uid, JobAction action) {
  const std::string name(ActionName(action));
  const Json target = {{"apiVersion", kube::ApiVersion(kube::kJobs)},
                       {"kind", kube::kJobs.kind},
                       {"name", job.name},
                       {"uid", uid},
                       {"controller", true},
                       {"blockOwnerDeletion", true}};
  Json command = {{"apiVersion", kube::ApiVersion(kube::kCommands)},
                  {"kind", kube::kCommands.kind}};
  command["metadata"] = {{"generateName", job.name + "-" + LowerCase(name) + "-"},
                         {"namespace", job.ns}};
  command["metadata"]["ownerReferences"] = Json::array({target});
  command["target"] = target;
  command["action"] = name;
  return DumpJson(command);
}

Result<std::string> FindJobUid(LiveCluster& cluster, const kube::ObjectKey& job) {
  TRY_ASSIGN(const std::string text, cluster.Get({kube::kJobs, job.ns, job.name, {}}));
  TRY_ASSIGN(kube::ObjectHead head, kube::ReadHead(text));
  return std::move(head.uid);
}

Status SendCommand(LiveCluster& cluster, const kube::ObjectKey& job, JobAction action) {
  TRY_ASSIGN(const std::string uid, FindJobUid(cluster, job));
  const kube::ResourcePath commands{kube::kCommands, job.ns, {}, {}};
  TRY(cluster.Do(commands, kube::CreateCall(commands, CommandBody(job, uid, action))));
  return {};
}

Status DeleteJob(LiveCluster& cluster, const kube::ObjectKey& job, const std::string& uid) {
  const kube::ResourcePath path{kube::kJobs, job.ns, job.name, {}};
  kube::DeleteOptions options;
  options.uid = uid;
  options.propagation = "Background";
  TRY(cluster.Do(path, kube::DeleteCall(path, options)));
  return {};
}

}  // namespace strata::inspect
