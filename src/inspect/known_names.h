#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inspect/live_cluster.h"

namespace strata::inspect {

// The names that a shell offers for `word`, the beginning of a name: those of "jobs", "queues",
// "nodes" (and HyperNodes), "hypernodes" or "namespaces". Jobs are those of namespace `ns`; a word
// "ml/tr" asks for the jobs of namespace ml, as "ml/train". None of an unknown kind. Ascending.
[[nodiscard]] Result<std::vector<std::string>> KnownNames(LiveCluster& cluster,
                                                          std::string_view kind,
                                                          const std::string& ns,
                                                          std::string_view word);

// What the words of a command line say about the cluster: --kubeconfig, --context and -n, each in
// any of its forms. Pure.
struct NamesQuery {
  kube::ConnectionFlags connection;
  std::string ns;    // "" for that of the context
  std::string word;  // the last one
};
[[nodiscard]] NamesQuery ReadNamesQuery(const std::vector<std::string>& words);

}  // namespace strata::inspect
