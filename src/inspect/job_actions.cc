#include "inspect/job_actions.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "inspect/job_lookup.h"
#include "inspect/job_report.h"
#include "inspect/status_facts.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"

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
  TRY_ASSIGN(const std::string text, GetJob(cluster, job));
  TRY_ASSIGN(kube::ObjectHead head, kube::ReadHead(text));
  return std::move(head.uid);
}

Result<std::string> RequestAction(LiveCluster& cluster,
                                  const kube::ObjectKey& job,
                                  JobAction action) {
  TRY_ASSIGN(const std::string text, GetJob(cluster, job));
  TRY_ASSIGN(const kube::ObjectHead head, kube::ReadHead(text));
  std::optional<JobAction> pending;
  // A user that may not read commands may still send one.
  const auto listed = cluster.List(kube::kCommands, job.ns, {});
  if (listed && *listed) pending = PendingAction(**listed, head.uid);
  auto known = WhyNothingFollows(ReadJobStatus(text).phase, pending, action);
  if (!known) {
    return Fail(known.error().code,
                fmt::format("job {}/{} {}", job.ns, job.name, known.error().message));
  }
  if (!known->empty()) return known;
  const kube::ResourcePath commands{kube::kCommands, job.ns, {}, {}};
  TRY(cluster.Do(commands, kube::CreateCall(commands, CommandBody(job, head.uid, action))));
  return std::string(action == JobAction::kSuspend ? "suspend requested" : "resume requested");
}

Result<std::string> WhyNothingFollows(std::string_view phase,
                                      std::optional<JobAction> pending,
                                      JobAction action) {
  const bool suspend = action == JobAction::kSuspend;
  const JobState state = StateOfPhase(phase).value_or(JobState::kWaiting);
  if (state == JobState::kFinished || phase == "Completing" || phase == "Terminating") {
    return Fail(Code::kInvalidArgument,
                fmt::format("is {}, so it cannot be {}", phase, suspend ? "suspended" : "resumed"));
  }
  if (pending == action) {
    return fmt::format("{} was requested before; the job controller has not taken it yet",
                       suspend ? "suspend" : "resume");
  }
  if (pending) return std::string();  // it takes back what was asked before
  const bool suspended = state == JobState::kSuspended;
  if (suspend == suspended) {
    return suspend ? fmt::format("is suspended already ({})", phase)
                   : fmt::format("is not suspended ({}), so there is nothing to resume", phase);
  }
  return std::string();
}

std::optional<JobAction> PendingAction(const std::vector<ListedObject>& commands,
                                       const std::string& uid) {
  std::string last;
  std::optional<JobAction> pending;
  for (const ListedObject& command : commands) {
    const nlohmann::json object = ParseJsonOrNull(command.text);
    const std::string action = TextAt(object, {"action"});
    const std::string made = TextAt(object, {"metadata", "creationTimestamp"});
    if (TextAt(object, {"target", "uid"}) != uid || made < last) continue;
    if (action != ActionName(JobAction::kSuspend) && action != ActionName(JobAction::kResume)) {
      continue;
    }
    last = made;
    pending = action == ActionName(JobAction::kSuspend) ? JobAction::kSuspend : JobAction::kResume;
  }
  return pending;
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
