#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "objects/kinds.h"

namespace strata::kube {

// What the API server calls a resource. The texts are constants of the program, or outlive the code
// that is given the value.
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
// `ns` every namespace; each part is escaped.
struct ResourcePath {
  Resource resource;
  std::string ns;
  std::string name;
  std::string subresource;

  [[nodiscard]] std::string Text() const;
};

// For a part of a path or a value of a query: everything but letters, digits and "-._~" as %XX.
[[nodiscard]] std::string Escape(std::string_view text);

constexpr Resource ToResource(const objects::Kind& kind) {
  return {kind.group,
          kind.version,
          kind.plural,
          kind.kind,
          kind.scope == objects::Scope::kCluster ? Resource::Scope::kCluster
                                                 : Resource::Scope::kNamespaced};
}

// Kinds of the table of kinds.
inline constexpr Resource kNamespaces = ToResource(objects::KindNamed("Namespace"));
inline constexpr Resource kNodes = ToResource(objects::KindNamed("Node"));
inline constexpr Resource kPods = ToResource(objects::KindNamed("Pod"));
inline constexpr Resource kConfigMaps = ToResource(objects::KindNamed("ConfigMap"));
inline constexpr Resource kSecrets = ToResource(objects::KindNamed("Secret"));
inline constexpr Resource kResourceQuotas = ToResource(objects::KindNamed("ResourceQuota"));
inline constexpr Resource kVolumeClaims = ToResource(objects::KindNamed("PersistentVolumeClaim"));
inline constexpr Resource kVolumes = ToResource(objects::KindNamed("PersistentVolume"));
inline constexpr Resource kStorageClasses = ToResource(objects::KindNamed("StorageClass"));
inline constexpr Resource kCsiNodes = ToResource(objects::KindNamed("CSINode"));
inline constexpr Resource kPriorityClasses = ToResource(objects::KindNamed("PriorityClass"));
inline constexpr Resource kDisruptionBudgets =
    ToResource(objects::KindNamed("PodDisruptionBudget"));
inline constexpr Resource kPodGroups = ToResource(objects::KindNamed("PodGroup"));
inline constexpr Resource kQueues = ToResource(objects::KindNamed("Queue"));
inline constexpr Resource kJobs = ToResource(objects::KindNamed("Job"));
inline constexpr Resource kHyperNodes = ToResource(objects::KindNamed("HyperNode"));
inline constexpr Resource kNumatopologies = ToResource(objects::KindNamed("Numatopology"));
// Kinds that are only written, or read by controllers.
inline constexpr Resource kEvents{"", "v1", "events", "Event"};
inline constexpr Resource kServices{"", "v1", "services", "Service"};
inline constexpr Resource kLeases{"coordination.k8s.io", "v1", "leases", "Lease"};
inline constexpr Resource kCommands{"bus.volcano.sh", "v1alpha1", "commands", "Command"};

}  // namespace strata::kube
