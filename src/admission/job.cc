#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/object_reading.h"
#include "admission/pod_rules.h"
#include "admission/queue_rules.h"
#include "json/access.h"

namespace strata::admission {
namespace {

using nlohmann::json;

std::optional<objects::Job> ReadJob(const json& object, Problems& problems) {
  objects::Job job;
  job.meta.name = TextAt(object, {"metadata", "name"});
  const auto read = [&](const objects::Cursor& at) { objects::ReadObject(at, job); };
  if (!ReadWith(object, "", read, problems)) return std::nullopt;
  return job;
}

// Writes the defaults of Volcano's mutating webhook, which the reader has worked out, into the
// object. REQUIRES: `job` was read from `object`.
void WriteDefaults(const objects::Job& job, json& object) {
  json& spec = object["spec"];
  spec["queue"] = job.queue;
  spec["schedulerName"] = job.scheduler_name;
  spec["maxRetry"] = job.max_retry;
  spec["minAvailable"] = job.min_available;
  for (const auto& [name, arguments] : job.plugins) {
    json& plugins = ObjectIn(spec, "plugins");
    if (!plugins.contains(name)) plugins[name] = arguments;
  }
  std::size_t index = 0;
  for (json& task : spec["tasks"]) {
    const objects::JobTask& read = job.tasks[index++];
    task["name"] = read.name;
    task["minAvailable"] = read.min_available;
    task["maxRetry"] = read.max_retry;
    if (!read.pod_template.spec.host_network) continue;
    SetDefault(task["template"]["spec"], "dnsPolicy", "ClusterFirstWithHostNet");
  }
}

void CheckTemplates(const json& object, Problems& problems) {
  std::size_t index = 0;
  for (const json& task : ListAt(object, {"spec", "tasks"})) {
    const std::string field = fmt::format("spec.tasks[{}].template.spec", index++);
    json spec = ObjectAt(task, {"template", "spec"});
    SetPodSpecDefaults(spec);
    CheckPodSpec(spec, field, problems);
  }
}

// `spec` without what an update may change.
json FixedPart(json spec) {
  if (!spec.is_object()) return spec;
  for (const char* key : {"minAvailable", "priorityClassName"}) spec.erase(key);
  if (json* tasks = FindAt(spec, {"tasks"}); tasks != nullptr && tasks->is_array()) {
    for (json& task : *tasks) {
      if (!task.is_object()) continue;
      task.erase("replicas");
      task.erase("minAvailable");
    }
  }
  // The controller writes the names of the claims that it made.
  if (json* volumes = FindAt(spec, {"volumes"}); volumes != nullptr && volumes->is_array()) {
    for (json& volume : *volumes) {
      if (volume.is_object()) volume.erase("volumeClaimName");
    }
  }
  return spec;
}

}  // namespace

ApiResult<void> CreateJob(const AdmissionContext& context, json& object, Problems& problems) {
  const std::optional<objects::Job> job = ReadJob(object, problems);
  if (!job) return {};
  WriteDefaults(*job, object);
  CheckTemplates(object, problems);
  CheckQueueTakes(context.store, job->queue, "job", Leaf::kOnly, problems);
  return {};
}

ApiResult<void> UpdateJob(const AdmissionContext& /*context*/,
                          const Edit& edit,
                          Problems& problems) {
  const std::optional<objects::Job> job = ReadJob(edit.after, problems);
  if (!job) return {};
  WriteDefaults(*job, edit.after);
  // What was made before there was a webhook has no defaults yet.
  json old = edit.before;
  Problems of_old;
  if (const auto read = ReadJob(old, of_old)) WriteDefaults(*read, old);
  const json& before = ObjectAt(old, {"spec"});
  if (ListAt(before, {"tasks"}).size() != job->tasks.size()) {
    problems.Forbidden("spec.tasks", "job updates may not add or remove tasks");
  } else if (FixedPart(before) != FixedPart(edit.after["spec"])) {
    problems.Forbidden("spec",
                       "job updates may not change fields other than `minAvailable`, "
                       "`priorityClassName`, `tasks[*].replicas` and `tasks[*].minAvailable` under "
                       "spec");
  }
  return {};
}

}  // namespace strata::admission
