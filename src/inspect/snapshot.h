#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inspect/live_cluster.h"
#include "kube/reflector_state.h"
#include "objects/object_set.h"

namespace strata::inspect {

// What simulate reads of a cluster, in the order of a snapshot; Secrets are left out, and
// all ConfigMaps except the scheduler's.
[[nodiscard]] std::span<const kube::WatchSpec> SnapshotParts();

// The objects of one part; none where the server does not serve the kind.
[[nodiscard]] Result<std::vector<ListedObject>> ReadPart(LiveCluster& cluster,
                                                         const kube::WatchSpec& part);

// Writes the cluster as one JSON List, an object a line, each as the server gave it but without
// metadata.managedFields. Kinds in the order of SnapshotParts, objects by (namespace, name): the
// same cluster gives the same bytes. COST: the objects of one kind in memory.
using Write = std::function<Status(std::string_view)>;
[[nodiscard]] Status WriteSnapshot(LiveCluster& cluster, const Write& write);

// The text of an object without metadata.managedFields, otherwise byte by byte as it was.
[[nodiscard]] std::string WithoutManagedFields(std::string text);

// Reads objects of a running cluster. One that cannot be used does not hide the others: it is left
// out, and a warning says why.
[[nodiscard]] Result<objects::ObjectSet> ParseTexts(const std::vector<std::string_view>& texts);

}  // namespace strata::inspect
