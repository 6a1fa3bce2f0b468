#pragma once

#include <vector>

#include "explain/relaxations.h"
#include "explain/resolver.h"

namespace strata {

// The part of FindRelaxations that moves limits: queues, quotas, tiers, and how many pods make up
// the gang. Adds what works to `found`.
void TryLimits(const RelaxationQuery& query, Resolver& resolver, std::vector<Relaxation>& found);

}  // namespace strata
