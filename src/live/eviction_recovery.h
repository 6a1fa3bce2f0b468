#pragma once

#include <vector>

#include "base/clock.h"
#include "convert/cluster_feed.h"
#include "live/eviction_book.h"
#include "live/eviction_order.h"
#include "sched/eviction/claim.h"

namespace strata::live {

// What a former scheduler left of its plans, as its writes show it.
struct Recovery {
  struct Begun {
    GangClaim claim;
    EvictionOrder order;  // victims that are still to be deleted
  };
  std::vector<Begun> begun;
  EvictionBook::Steps undo;  // of plans that never came to be
};

// Finds gangs whose pods are all nominated to a node (status.nominatedNodeName), with the pods that
// have to go for them (condition DisruptionTarget). Nominations and conditions of others are to be
// taken back: nobody has gone for them, since nominations are written first and victims are deleted
// last (EvictionBook). Pure.
[[nodiscard]] Recovery FindLeftovers(const ClusterFeed& feed, Time now);

}  // namespace strata::live
