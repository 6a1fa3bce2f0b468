#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/client.h"
#include "local_cluster/apply_plan.h"
#include "objects/load.h"
#include "virtual_nodes/generate.h"

namespace strata {

struct Manifests {
  std::vector<Manifest> all;
  std::vector<std::string> faults;  // lines for standard error
};
// Every object of the files and folders; "-" is standard input. An object that simulate would
// reject is the error, one line with file, object and field.
[[nodiscard]] Result<Manifests> ReadManifests(const std::vector<std::string>& paths,
                                              objects::OnFault on_fault);

// Applies the manifests as `kubectl apply --server-side --force-conflicts` would, in the order of
// ApplyOrder, and creates missing namespaces before. The first object that is rejected is the
// error; with kFail the server rejects what its strict field validation finds, too. Blocks.
[[nodiscard]] Status ApplyManifests(kube::Client& client,
                                    const std::vector<Manifest>& manifests,
                                    objects::OnFault on_fault);

// Creates the objects of a generated cluster that do not exist yet. Blocks.
[[nodiscard]] Status CreateGenerated(kube::Client& client,
                                     const virtual_nodes::GenerateSpec& spec,
                                     Time now);

}  // namespace strata
