#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/constraints.h"
#include "model/selector.h"
#include "objects/meta.h"
#include "objects/storage.h"

namespace strata::objects {

struct ContainerPort {
  std::int32_t container_port = 0;
  HostPort host;  // host.port 0: not on the host
};

struct Container {
  std::string name;
  std::string image;
  ResourceList requests;  // with what only limits name taken from there
  ResourceList limits;
  std::vector<ContainerPort> ports;
  bool sidecar = false;  // an init container with restartPolicy Always
};

// What the pod affinity terms and spread constraints select. A missing selector matches no pod.
struct PodAffinityTerm {
  std::optional<LabelSelector> selector;
  std::vector<std::string> namespaces;              // sorted
  std::optional<LabelSelector> namespace_selector;  // empty selector: every namespace
  std::string topology_key;
  std::vector<std::string> match_label_keys;     // see MergeMatchLabelKeys
  std::vector<std::string> mismatch_label_keys;  // see MergeMatchLabelKeys

  auto operator<=>(const PodAffinityTerm&) const = default;
};

struct WeightedPodAffinityTerm {
  std::int32_t weight = 1;  // 1..100
  PodAffinityTerm term;

  auto operator<=>(const WeightedPodAffinityTerm&) const = default;
};

struct PodAffinity {
  std::vector<PodAffinityTerm> required;  // all of them
  std::vector<WeightedPodAffinityTerm> preferred;

  auto operator<=>(const PodAffinity&) const = default;
};

struct TopologySpreadConstraint {
  enum class Unsatisfiable : std::uint8_t { kDoNotSchedule, kScheduleAnyway };
  enum class NodePolicy : std::uint8_t { kHonor, kIgnore };

  std::int32_t max_skew = 1;
  std::string topology_key;
  Unsatisfiable when_unsatisfiable = Unsatisfiable::kDoNotSchedule;
  std::optional<LabelSelector> selector;
  std::optional<std::int32_t> min_domains;
  NodePolicy node_affinity_policy = NodePolicy::kHonor;
  NodePolicy node_taints_policy = NodePolicy::kIgnore;
  std::vector<std::string> match_label_keys;  // see MergeMatchLabelKeys

  auto operator<=>(const TopologySpreadConstraint&) const = default;
};

struct Volume {
  std::string name;
  std::string claim_name;              // persistentVolumeClaim.claimName
  std::optional<ClaimSpec> ephemeral;  // its claim is named <pod>-<volume>
  std::string csi_driver;              // an inline CSI volume
};

// spec.resources, the pod's own requests beside those of its containers.
struct PodLevelResources {
  ResourceList requests;
  ResourceList limits;
};

enum class PreemptionPolicy : std::uint8_t { kPreemptLowerPriority, kNever };

struct PodSpec {
  std::string node_name;
  std::string scheduler_name;  // of a Pod never ""; of a template "" when it names none
  std::optional<std::int32_t> priority;
  std::string priority_class_name;
  std::optional<PreemptionPolicy> preemption_policy;
  Labels node_selector;
  NodeAffinity node_affinity;
  PodAffinity pod_affinity;
  PodAffinity pod_anti_affinity;
  std::vector<TopologySpreadConstraint> spread;
  std::vector<Toleration> tolerations;
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  ResourceList overhead;
  std::optional<PodLevelResources> resources;
  std::vector<Volume> volumes;
  std::vector<std::string> scheduling_gates;  // names
  bool host_network = false;
  std::optional<std::int32_t> grace_seconds;  // terminationGracePeriodSeconds
};

// spec.template of a Job task.
struct PodTemplate {
  Labels labels;
  Labels annotations;
  PodSpec spec;
};

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed, kUnknown };

// What in-place resize reports of a container; empty lists when the kubelet said nothing.
struct ContainerStatus {
  std::string name;
  ResourceList allocated;  // allocatedResources
  ResourceList requests;   // resources.requests: what is in force
};

struct PodStatus {
  PodPhase phase = PodPhase::kPending;
  std::string nominated_node_name;
  std::vector<Condition> conditions;
  std::vector<ContainerStatus> containers;
  std::vector<ContainerStatus> init_containers;
};

// v1 Pod.
struct Pod {
  Metadata meta;
  PodSpec spec;
  PodStatus status;
};

// Ends a warning about a rule that a pod on a node breaks.
inline constexpr std::string_view kNotRefused = "; not refused, as the pod is on a node";

// The ports the pod takes on its node: those of containers and sidecars that name a hostPort.
[[nodiscard]] std::vector<HostPort> HostPortsOf(const PodSpec& spec);

// The PersistentVolumeClaim of a volume of `pod`, or "" when the volume needs none.
[[nodiscard]] std::string ClaimNameOf(const Pod& pod, const Volume& volume);

// Turns matchLabelKeys and mismatchLabelKeys into requirements of their selectors, from the labels
// of the pod, as the API server does. Keys that the pod does not have are left out. Idempotent;
// loaded and expanded pods have it done.
void MergeMatchLabelKeys(Pod& pod);

}  // namespace strata::objects
