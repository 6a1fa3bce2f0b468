#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
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
// kNotFound with one line that names what comes nearest. COST: one pass over the objects.
[[nodiscard]] Result<Subject> FindSubject(const CompletedObjects& objects, std::string_view name);

// The Job that `name` means, "ns/job", while it has not been admitted to its queue: its controller
// makes its pods after that, so its pods may be made up. "" when there is no such Job, or it has
// been admitted; then only the pods that exist count.
[[nodiscard]] std::string JobBeforeAdmission(const objects::ObjectSet& objects,
                                             std::string_view name);

}  // namespace strata
