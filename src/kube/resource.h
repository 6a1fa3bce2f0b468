#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strata::kube {

// What the API server calls a resource. The texts are constants of the program, or outlive whoever
// is given the value.
struct Resource {
  enum class Scope : std::uint8_t { kNamespaced, kCluster };

  std::string_view group;  // "" for core
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  Scope scope = Scope::kNamespaced;

  friend bool operator==(const Resource&, const Resource&) = default;
};

// "v1", "scheduling.volcano.sh/v1beta1".
[[nodiscard]] std::string ApiVersion(const Resource& resource);

// "/api/v1/namespaces/ns/pods/name/binding". An empty `name` is the collection, an empty
// `space` every namespace; each part is escaped.
struct ResourcePath {
  Resource resource;
  std::string space;
  std::string name;
  std::string subresource;

  [[nodiscard]] std::string Text() const;
};

// For a part of a path or a value of a query: everything but letters, digits and "-._~" as %XX.
[[nodiscard]] std::string Escape(std::string_view text);

inline constexpr Resource kNamespaces{
    "", "v1", "namespaces", "Namespace", Resource::Scope::kCluster};
inline constexpr Resource kNodes{"", "v1", "nodes", "Node", Resource::Scope::kCluster};
inline constexpr Resource kPods{"", "v1", "pods", "Pod"};
inline constexpr Resource kEvents{"", "v1", "events", "Event"};
inline constexpr Resource kConfigMaps{"", "v1", "configmaps", "ConfigMap"};
inline constexpr Resource kSecrets{"", "v1", "secrets", "Secret"};
inline constexpr Resource kServices{"", "v1", "services", "Service"};
inline constexpr Resource kResourceQuotas{"", "v1", "resourcequotas", "ResourceQuota"};
inline constexpr Resource kVolumeClaims{
    "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"};
inline constexpr Resource kVolumes{
    "", "v1", "persistentvolumes", "PersistentVolume", Resource::Scope::kCluster};
inline constexpr Resource kStorageClasses{
    "storage.k8s.io", "v1", "storageclasses", "StorageClass", Resource::Scope::kCluster};
inline constexpr Resource kCsiNodes{
    "storage.k8s.io", "v1", "csinodes", "CSINode", Resource::Scope::kCluster};
inline constexpr Resource kPriorityClasses{
    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", Resource::Scope::kCluster};
inline constexpr Resource kLeases{"coordination.k8s.io", "v1", "leases", "Lease"};
inline constexpr Resource kDisruptionBudgets{
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"};
inline constexpr Resource kPodGroups{"scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup"};
inline constexpr Resource kQueues{
    "scheduling.volcano.sh", "v1beta1", "queues", "Queue", Resource::Scope::kCluster};
inline constexpr Resource kJobs{"batch.volcano.sh", "v1alpha1", "jobs", "Job"};
inline constexpr Resource kCommands{"bus.volcano.sh", "v1alpha1", "commands", "Command"};
inline constexpr Resource kHyperNodes{
    "topology.volcano.sh", "v1alpha1", "hypernodes", "HyperNode", Resource::Scope::kCluster};
inline constexpr Resource kNumatopologies{
    "nodeinfo.volcano.sh", "v1alpha1", "numatopologies", "Numatopology", Resource::Scope::kCluster};

}  // namespace strata::kube
