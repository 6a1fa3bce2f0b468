#pragma once

#include "base/result.h"
#include "model/workload.h"
#include "objects/meta.h"

namespace strata {

// The annotations volcano.sh/task-topology-affinity and -anti-affinity ("ps,worker;a,b": groups of
// tasks by name) and -task-order ("ps,worker") of a PodGroup. Blanks around names and empty names
// do not count. kInvalidArgument, naming the annotation, for a duplicate name in one group.
[[nodiscard]] Result<RoleAffinity> ToRoleAffinity(const objects::Metadata& meta);

}  // namespace strata
