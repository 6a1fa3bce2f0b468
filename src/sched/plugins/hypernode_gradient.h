#pragma once

#include "sched/extension.h"

namespace strata {

// Where a gang could go: the HyperNodes at or below the search root, by tier ascending.
//
// The root is `within`. A gang that already runs somewhere stays below the highest HyperNode above
// that place whose tier is allowed, so its root is the lower of the two; there is none when the
// place itself is above the limit, or when neither of the two is above the other.
//
// Eligible is a HyperNode of an allowed tier whose idle resources, or those idle once what is being
// released is gone, are at least the need, as they are at this moment. Every allowed tier with a
// HyperNode is listed, eligible ones or not; with `explain` also every tier above the limit, with
// the HyperNode above the root where it has none below it, and why each HyperNode that is not
// eligible is not.
//
// COST: O(HyperNodes below the root); strings are made only for an error and with `explain`.
[[nodiscard]] Gradient FindGradient(const ClusterState& state, const GradientQuery& query);

// True when the HyperNode has `need` idle, or will have, as far as sums can tell.
[[nodiscard]] bool HasSumsFor(const ClusterState& state, const Resources& need, HyperNodeId id);

}  // namespace strata
