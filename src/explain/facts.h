#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "explain/subject.h"
#include "model/cluster_state.h"
#include "whatif/cluster.h"

// What the objects say by themselves, before anything is simulated. Pure.
namespace strata {

// What there is of one job.
struct Reality {
  std::string phase;       // of its PodGroup; "Pending" while there is none
  std::size_t wanted = 0;  // pods that it is to have
  std::size_t needed = 0;  // of these, that must start together
  std::size_t exist = 0;
  std::size_t placed = 0;  // of these, with a node
  std::size_t ended = 0;   // of those with a node

  bool operator==(const Reality&) const = default;
};
[[nodiscard]] Reality FindReality(const CompletedObjects& objects, const std::string& group);

// The Job in whose PodGroup "ns/podgroup" is; null when there is none.
[[nodiscard]] const objects::Job* JobOfGroup(const CompletedObjects& objects,
                                             const std::string& group);

struct Told {
  std::string phase;     // of the Job or pod; "" of pods of another scheduler
  std::string sentence;  // "default/train completed 5m ago; it ran in s4 (tier 2) for 2h."
};
// About a Job that makes no more pods, a pod that has ended, or pods of another scheduler; none
// where a simulation has something to say.
[[nodiscard]] std::optional<Told> TellWithoutRun(const CompletedObjects& objects,
                                                 const ClusterState& state,
                                                 const Subject& subject,
                                                 Time now);

// "Deployment default/web has 3 pods: 1 has no node." What is said of a pod, or of what controls
// pods, before its PodGroup is explained; "" of a Job or PodGroup.
[[nodiscard]] std::string TellSubject(const CompletedObjects& objects, const Subject& subject);

}  // namespace strata
