#pragma once

#include <vector>

#include "explain/relaxations.h"
#include "explain/resolver.h"

namespace strata {

// Adds the actions that would evict others so that the job starts, where none of their kind is
// configured: gangpreempt when jobs of lower priority run in its queue, gangreclaim when jobs of
// other queues run.
void TryEvictions(const RelaxationQuery& query, Resolver& resolver, std::vector<Relaxation>& found);

}  // namespace strata
