#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/event_correlator.h"
#include "kube/pacing.h"
#include "live/binder.h"
#include "live/retry_times.h"
#include "net/transport.h"

namespace strata::live {

// Decides what follows from the outcomes of binds. A value without effects: time is an argument,
// chance is injected.
//
// A pod whose bind failed keeps its room in the state until it is tried again, later and later: the
// next cycle would only give it the same room.
class BindBook {
 public:
  explicit BindBook(kube::Random random) : retries_(std::move(random)) {}

  // The pod is about to be bound: an earlier failure says nothing about this bind.
  void Begin(const kube::PodName& pod);
  // The event to write about an outcome. After a failure the pod is given back by TakeDue later.
  [[nodiscard]] kube::EventNote Take(const Binder::Outcome& outcome, net::SteadyTime now);

  // Pods whose binds failed and that may be tried again: their room is to be given up
  // (ClusterFeed::Forget). Each is given once.
  [[nodiscard]] std::vector<kube::PodName> TakeDue(net::SteadyTime now);
  // When TakeDue will have something; none: nothing failed.
  [[nodiscard]] std::optional<net::SteadyTime> NextDue() const;

 private:
  RetryTimes retries_;                                    // by pod
  std::multimap<net::SteadyTime, kube::PodName> failed_;  // by when to try again
};

// "namespace/name".
[[nodiscard]] std::string NameOf(const kube::PodName& pod);

}  // namespace strata::live
