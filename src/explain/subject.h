#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "objects/expand_job.h"
#include "objects/object_set.h"
#include "whatif/cluster.h"

namespace strata {

// What a person means by a name.
struct Subject {
  std::string kind;  // "Job", "PodGroup", "Pod", or what controls pods: "Deployment"
  std::string name;  // "ns/name"
  // "ns/podgroup", those first that have a pod without a node, then by name. None when nothing of
  // it is scheduled: it has ended, or another scheduler has it.
  std::vector<std::string> groups;

  bool operator==(const Subject&) const = default;
};

// The Job "ns/name", else the PodGroup, else the pod, else what controls pods and has that name.
// With a `kind` (KindOfWord) only what is of that kind. kNotFound with one line that names what
// comes nearest. COST: one pass over the objects.
[[nodiscard]] Result<Subject> FindSubject(const CompletedObjects& objects,
                                          std::string_view name,
                                          std::string_view kind = {});

// Which Jobs of a running cluster are given pods that do not exist there, so that a run can place
// them: all that their queue has not admitted yet, as their controller makes their pods after that;
// of the others only what exists counts. Nobody can make pods whose PriorityClass does not exist:
// such a Job is given them only where `name`, "ns/job" or that of its PodGroup, asks about it.
[[nodiscard]] objects::MakesPods MakesUpPods(const objects::ObjectSet& objects,
                                             std::string_view name);

}  // namespace strata
