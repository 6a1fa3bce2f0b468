#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "model/constraints.h"
#include "model/selector.h"
#include "objects/object_set.h"
#include "objects/topology.h"

// Single changes of a completed set of objects, as a person would make them in the manifests: what
// relaxations are tried with. Jobs are named by their PodGroup, "ns/podgroup". Whatever the name
// does not find is left as it is.
namespace strata {

[[nodiscard]] const objects::PodGroup* FindGroup(const objects::ObjectSet& objects,
                                                 std::string_view group);
// Pods of the group that have no node yet.
[[nodiscard]] std::vector<const objects::Pod*> WaitingPodsOf(const objects::ObjectSet& objects,
                                                             std::string_view group);

// A change of the whole job, or of one of its sub-group policies.
void SetTopology(objects::ObjectSet& objects,
                 std::string_view group,
                 std::optional<std::size_t> policy,
                 const objects::NetworkTopology& topology);
// minMember, and minResources (if there are any) to match: what the first `count` pods ask for.
void SetMinMember(objects::ObjectSet& objects, std::string_view group, std::int32_t count);
// minSubGroups of one policy, and minMember (and minResources) less what no longer must start.
void SetMinSubGroups(objects::ObjectSet& objects,
                     std::string_view group,
                     std::size_t policy,
                     std::int32_t count);

// These change the pods of the group that have no node yet.
void RemoveGates(objects::ObjectSet& objects, std::string_view group);
void Tolerate(objects::ObjectSet& objects, std::string_view group, const Taint& taint);
void DropNodeSelector(objects::ObjectSet& objects, std::string_view group, std::string_view key);
// From every term of the required node affinity; with its last requirement a term, and with it the
// whole affinity, binds nothing any more.
void DropNodeRequirement(objects::ObjectSet& objects,
                         std::string_view group,
                         const Requirement& requirement);
enum class PodTermKind : std::uint8_t { kAffinity, kAntiAffinity };
void DropPodTerm(objects::ObjectSet& objects,
                 std::string_view group,
                 PodTermKind kind,
                 const objects::PodAffinityTerm& term);
void DropSpread(objects::ObjectSet& objects,
                std::string_view group,
                const objects::TopologySpreadConstraint& spread);

void Uncordon(objects::ObjectSet& objects, const std::vector<std::string>& nodes);
// The nodes report that they are ready, and lose the taints they had for not being so.
void MakeReady(objects::ObjectSet& objects, const std::vector<std::string>& nodes);
// Whether the taint says that a node is cordoned, and whether that it is not ready: not for pods to
// tolerate, but for nodes to lose.
[[nodiscard]] bool IsCordon(const Taint& taint);
[[nodiscard]] bool IsUnready(const Taint& taint);

void OpenQueue(objects::ObjectSet& objects, std::string_view queue);
// An entry of spec.capability; none takes the limit away.
void SetCapability(objects::ObjectSet& objects,
                   std::string_view queue,
                   const std::string& resource,
                   std::optional<Quantity> amount);
void SetWeight(objects::ObjectSet& objects, std::string_view queue, std::int32_t weight);
// An entry of spec.hard of a ResourceQuota "ns/name"; none takes the limit away.
void SetHard(objects::ObjectSet& objects,
             std::string_view quota,
             const std::string& resource,
             std::optional<Quantity> amount);

// The job's pods wait as if they had never been placed.
void ReleaseGroup(objects::ObjectSet& objects, std::string_view group);
// Whether the pod belongs to its node, as those of DaemonSets do: nobody can move it.
[[nodiscard]] bool StaysWithItsNode(const objects::Pod& pod);
// The job is gone, with all its pods; likewise a pod that stands for itself.
void RemoveGroup(objects::ObjectSet& objects, std::string_view group);
void RemovePod(objects::ObjectSet& objects, std::string_view pod);

}  // namespace strata
