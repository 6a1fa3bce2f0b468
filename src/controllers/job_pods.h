#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "objects/job.h"

// What a Job is made into, as objects to be created.
namespace strata::controllers {

// A Job as it was seen: whole, and as far as Strata reads it. The same in two forms, task by task.
struct JobSeen {
  const nlohmann::json& object;
  const objects::Job& job;
};

struct PodPlace {
  std::size_t task = 0;  // index in spec.tasks
  std::int32_t index = 0;
};

// Pod <job>-<task>-<index> with every field of its template, the job's volumes mounted, and what
// the job's plugins add.
// REQUIRES: the place is one of the job's.
[[nodiscard]] nlohmann::json MakePodObject(const JobSeen& seen,
                                           PodPlace place,
                                           const std::string& pod_group);

// The claims that are to be made for spec.volumes.
[[nodiscard]] std::vector<nlohmann::json> MakeClaimObjects(const JobSeen& seen);

// metadata of an object that belongs to the job.
[[nodiscard]] nlohmann::json OwnedMetadata(const objects::Job& job, const std::string& name);

}  // namespace strata::controllers
