#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "controllers/cache.h"
#include "controllers/plan.h"
#include "kube/client.h"

namespace strata::controllers {

struct Applied {
  Status outcome;
  // Why the server refused the write that ended the plan: "create pods default/a-w-0: ..."; "" when
  // it refused none. Conflicts and servers that cannot answer do not count: another time helps.
  std::string refusal;
  std::vector<Cache::Expectation> left;  // what is to be seen of the writes that succeeded
  std::size_t writes = 0;
};

// Carries out the steps of a plan; the first step with a failure is the last. Every write carries
// `leadership`. What is gone already is deleted; what exists already and is the owner's is created.
// Returns at once. `done` is called once, also when the client goes: on a thread of the client's
// transports, or inside when there is nothing to write.
void StartPlan(kube::Client& client,
               const Plan& plan,
               std::shared_ptr<const kube::Leadership> leadership,
               std::function<void(Applied)> done);

// The same, waiting for the end. Not on a thread of the client's transports.
[[nodiscard]] Applied Apply(kube::Client& client,
                            const Plan& plan,
                            const std::shared_ptr<const kube::Leadership>& leadership);

}  // namespace strata::controllers
