#pragma once

#include <string>

#include "controllers/cache.h"
#include "controllers/plan.h"
#include "kube/client.h"

namespace strata::controllers {

// Deletes the pods of nodes that do not exist, as the pod garbage collector of Kubernetes does for
// its clusters. A node that is created again in time keeps its pods. Thread-safe.
class GoneNodes {
 public:
  // How long a node must have been gone.
  static constexpr Duration kPatience = std::chrono::seconds(5);

  // Both must outlive it.
  GoneNodes(kube::Client& client, const Cache& cache) : client_(client), cache_(cache) {}

  // The node whose pods are to be looked at after kPatience because of the change; "": none.
  [[nodiscard]] std::string Concerns(const Cache::Change& change) const;
  // Asks the server whether the node is really gone.
  [[nodiscard]] Plan Decide(const std::string& node) const;

 private:
  [[nodiscard]] bool IsKnown(const std::string& node) const;

  kube::Client& client_;
  const Cache& cache_;
};

}  // namespace strata::controllers
