#pragma once

#include <set>
#include <string>

#include "controllers/cache.h"
#include "controllers/controller.h"
#include "controllers/garbage.h"
#include "kube/client.h"

namespace strata::controllers {

// Gathers what CollectGarbage is to see. Thread-safe.
class GarbageDesk {
 public:
  // Both must outlive it.
  GarbageDesk(kube::Client& client, const Cache& cache) : client_(client), cache_(cache) {}

  // The uids that are to be looked at because of the change.
  [[nodiscard]] std::set<std::string> Take(const Cache::Change& change) {
    return graph_.Take(change);
  }
  // Asks the server about owners that are not known.
  [[nodiscard]] Controller::Work Decide(const std::string& uid);

 private:
  [[nodiscard]] bool IsGone(const OwnerSeen& owner, const std::string& ns, bool& unsure);

  kube::Client& client_;
  const Cache& cache_;
  OwnerGraph graph_;
};

}  // namespace strata::controllers
