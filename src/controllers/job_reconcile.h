#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/clock.h"
#include "controllers/job_plugins.h"
#include "controllers/plan.h"
#include "controllers/pod_seen.h"
#include "objects/priority.h"

namespace strata::controllers {

using ObjectRef = std::shared_ptr<const nlohmann::json>;  // never null unless it says so

// What is remembered between two looks at one job. Nothing is lost with it: a process that starts
// anew waits anew for timeouts, and makes sure once more of what plugins made.
struct JobMemory {
  std::vector<PodSeen> lost;          // gone since, before they had ended, or JobVerdict::lost
  std::map<std::string, Time> since;  // JobVerdict::since
  std::string ensured;                // which objects of plugins were written
  std::string waits;                  // why its PodGroup waits, as it was told
  std::string warned;                 // of what its PodGroup warns, as it was told
  std::string refusal;                // what the server refused of the last plan; "" nothing
  std::optional<Time> counts_since;   // since when the status counts its pods otherwise than we do
};

struct JobView {
  ObjectRef job;
  ObjectRef pod_group;              // named <job>-<uid>, else <job>; may be null
  std::vector<PodSeen> pods;        // controlled by the job, by name
  std::vector<ObjectRef> commands;  // with the job as target, by name
  JobMemory memory;
  objects::PriorityTable priorities;
  MakeSshKeys make_keys;
  Time now;
  std::string scheduler = "volcano";  // of jobs that name none
};

struct JobPlan {
  Plan plan;
  JobMemory memory;  // for the next look, once the plan is carried out
};

// What is to be done for a Job (batch.volcano.sh): its PodGroup, pods, claims and what its plugins
// make, lifecycle policies and commands, its status.
//
// Pure. Carried out and asked again until nothing is left to do, it ends in the same state whatever
// failed on the way: names are those of the job, deletions are of uids, and what counts (phase,
// version, retries) is in the status, which only the newest version of the Job takes. A status that
// differs in nothing but how many pods are in which phase is written a second after that was
// noticed: pods come up one after the other.
[[nodiscard]] JobPlan ReconcileJob(const JobView& view);

}  // namespace strata::controllers
