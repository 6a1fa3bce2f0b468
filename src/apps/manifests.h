#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/client.h"
#include "virtual_nodes/generate.h"

namespace strata {

// One object of a `-f` file.
struct Manifest {
  std::string origin;  // the file
  std::string api_version;
  std::string kind;
  std::string space;  // "" if it names none
  std::string name;
  std::string body;  // JSON
};

// Every object of files and folders, Lists taken apart; what the readers of manifests refuse is the
// error, one line with file, object and field.
[[nodiscard]] Result<std::vector<Manifest>> ReadManifests(const std::vector<std::string>& paths);

// Puts them into the cluster as `kubectl apply --server-side --force-conflicts` would, what others
// need first, with the namespaces that are missing. The first refusal is the error. Blocks.
[[nodiscard]] Status ApplyManifests(kube::Client& client, const std::vector<Manifest>& manifests);

// Makes the objects of a generated cluster that are not there yet. Blocks.
[[nodiscard]] Status CreateGenerated(kube::Client& client,
                                     const virtual_nodes::GenerateSpec& spec,
                                     Time now);

}  // namespace strata
