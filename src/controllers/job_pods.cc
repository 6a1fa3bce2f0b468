#include "controllers/job_pods.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "controllers/job_plugins.h"
#include "controllers/object_meta.h"
#include "json/access.h"
#include "objects/expand_job.h"
#include "objects/write_parts.h"

namespace strata::controllers {
namespace {

using nlohmann::json;
using objects::Job;
using objects::JobTask;

void AddVolumes(const Job& job, json& spec) {
  for (std::size_t i = 0; i < job.volumes.size(); ++i) {
    const std::string claim = objects::ClaimNameFor(job, i);
    MountVolume({.volume = {{"name", claim}, {"persistentVolumeClaim", {{"claimName", claim}}}},
                 .mount = {{"name", claim}, {"mountPath", job.volumes[i].mount_path}}},
                spec);
  }
}

}  // namespace

json OwnedMetadata(const Job& job, const std::string& name) {
  objects::Metadata meta;
  meta.name = name;
  meta.ns = job.meta.ns;
  meta.owners = {objects::OwnerOf(job)};
  return objects::WriteMetadata(meta);
}

json MakePodObject(const JobSeen& seen, PodPlace place, const std::string& pod_group) {
  const JobTask& task = seen.job.tasks[place.task];
  const json& tasks = ListAt(seen.object, {"spec", "tasks"});
  json spec = ObjectAt(tasks[place.task], {"template", "spec"});
  if (TextAt(spec, {"schedulerName"}).empty()) spec["schedulerName"] = seen.job.scheduler_name;
  if (TextAt(spec, {"priorityClassName"}).empty() && !seen.job.priority_class_name.empty()) {
    spec["priorityClassName"] = seen.job.priority_class_name;
  }
  AddVolumes(seen.job, spec);
  json pod = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       objects::WriteMetadata(objects::PodMetadataOf(seen.job, task, place.index, pod_group))},
      {"spec", std::move(spec)}};
  ApplyPlugins(seen.job, place, pod);
  return pod;
}

std::vector<json> MakeClaimObjects(const JobSeen& seen) {
  std::vector<json> claims;
  const json& volumes = ListAt(seen.object, {"spec", "volumes"});
  for (std::size_t i = 0; i < seen.job.volumes.size(); ++i) {
    if (!seen.job.volumes[i].claim || !seen.job.volumes[i].claim_name.empty()) continue;
    claims.push_back({{"apiVersion", "v1"},
                      {"kind", "PersistentVolumeClaim"},
                      {"metadata", OwnedMetadata(seen.job, objects::ClaimNameFor(seen.job, i))},
                      {"spec", ObjectAt(volumes[i], {"volumeClaim"})}});
  }
  return claims;
}

}  // namespace strata::controllers
