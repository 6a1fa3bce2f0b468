#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convert/cluster_feed.h"
#include "kube/client.h"
#include "kube/event_correlator.h"
#include "model/cluster_state.h"
#include "objects/pod.h"
#include "sched/cycle_result.h"
#include "sched/eviction/claim.h"

// A plan of a cycle as orders and words. All functions are pure.
namespace strata::live {

// Pods that have to go for one job, and the nodes that its own pods are told to wait for.
struct EvictionOrder {
  struct Nomination {
    kube::PodName pod;
    std::string node;
  };
  struct Victim {
    kube::PodName pod;
    bool budgeted = false;  // a PodDisruptionBudget is asked
  };
  std::string job;  // "namespace/podgroup" of the claimant
  std::string action;
  std::string reason;  // "gangpreempt: ns/job needs HyperNode s0 (tier 1)"
  std::vector<Nomination> nominations;
  std::vector<Victim> victims;
  bool takes_back = false;  // the job itself, an incomplete gang
};

// REQUIRES: `claim` is the one that was made for the plan; null only if the plan takes an
// incomplete gang back, for which there is none.
[[nodiscard]] EvictionOrder MakeEvictionOrder(const ClusterState& state,
                                              const CycleResult::EvictionPlan& plan,
                                              const GangClaim* claim);

// What is told about a plan: of the claimant, of each victim's PodGroup and of each victim.
[[nodiscard]] std::vector<kube::EventNote> EventsOf(const ClusterFeed& feed,
                                                    const CycleResult::EvictionPlan& plan,
                                                    const EvictionOrder& order);

// ---- the conditions of a victim
// A patch of the pod's status: Ready is False with reason Evict, DisruptionTarget is True. Ready
// stays as it is where a budget is asked: it counts pods that are ready, and would refuse.
[[nodiscard]] std::string MarkPatch(const EvictionOrder& order, const kube::PodName& pod, Time now);
// Takes that back.
[[nodiscard]] std::string UnmarkPatch(const kube::PodName& pod, Time now);
// A patch of status.nominatedNodeName; "" takes it out.
[[nodiscard]] std::string NominationPatch(const kube::PodName& pod, const std::string& node);

struct EvictionMark {
  std::string action;
  std::string job;  // for which the pod goes
};
// What MarkPatch wrote; none when the pod has no such condition.
[[nodiscard]] std::optional<EvictionMark> ReadMark(const objects::Pod& pod);

[[nodiscard]] kube::PodName ToPodName(const std::string& name, const std::string& uid);

}  // namespace strata::live
