#include "inspect/job_run.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"
#include "objects/document.h"
#include "objects/value_to_json.h"
#include "objects/write_parts.h"
#include "objects/yaml_writer.h"

namespace strata::inspect {
namespace {

using Json = nlohmann::ordered_json;

Json Container(const NewJob& job) {
  Json container = {
      {"name", job.key.name}, {"image", job.image}, {"imagePullPolicy", "IfNotPresent"}};
  if (!job.command.empty()) container["command"] = job.command;
  container["resources"] = {{"requests", objects::WriteResources(job.requests)},
                            {"limits", objects::WriteResources(job.limits)}};
  return container;
}

}  // namespace

std::string JobBody(const NewJob& job) {
  Json spec = {{"minAvailable", job.min_available}, {"schedulerName", job.scheduler}};
  if (!job.queue.empty()) spec["queue"] = job.queue;
  if (job.highest_tier) {
    spec["networkTopology"] = {{"mode", "hard"}, {"highestTierAllowed", *job.highest_tier}};
  }
  Json pod = Json::object({{"restartPolicy", "Never"}});
  pod["containers"] = Json::array({Container(job)});
  Json task = {{"name", job.key.name}, {"replicas", job.replicas}};
  task["template"] = Json::object({{"spec", std::move(pod)}});
  spec["tasks"] = Json::array({std::move(task)});
  Json body = {{"apiVersion", kube::ApiVersion(kube::kJobs)}, {"kind", kube::kJobs.kind}};
  body["metadata"] = {{"name", job.key.name}, {"namespace", job.key.ns}};
  body["spec"] = std::move(spec);
  return DumpJson(body);
}

Result<std::string> JobOfManifest(const std::string& file,
                                  const std::string& text,
                                  const std::string& ns) {
  nlohmann::json body;
  const auto take = [&](const objects::Value& value) -> Status {
    body = objects::ToJson(value);
    return {};
  };
  Result<std::size_t> count = objects::ForEachDocument(file, text, take);
  if (!count) return tl::unexpected(std::move(count).error().Context(file));
  const bool is_job = TextAt(body, {"apiVersion"}) == kube::ApiVersion(kube::kJobs) &&
                      TextAt(body, {"kind"}) == kube::kJobs.kind;
  if (*count != 1 || !is_job) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: want one Job of {}; kubectl apply -f takes anything else",
                            file,
                            kube::ApiVersion(kube::kJobs)));
  }
  if (TextAt(body, {"metadata", "namespace"}).empty()) body["metadata"]["namespace"] = ns;
  return DumpJson(body);
}

std::string ToYaml(const std::string& body) {
  return objects::WriteYaml(Json::parse(body, nullptr, false));
}

Result<std::string> CreateJob(LiveCluster& cluster, const std::string& body) {
  const nlohmann::json job = ParseJsonOrNull(body);
  const kube::ResourcePath path{kube::kJobs, TextAt(job, {"metadata", "namespace"}), {}, {}};
  TRY_ASSIGN(const std::string made, cluster.Do(path, kube::CreateCall(path, body)));
  TRY_ASSIGN(const kube::ObjectHead head, kube::ReadHead(made));
  return head.key.ns + "/" + head.key.name;
}

}  // namespace strata::inspect
