#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

// The table of kinds: what loading, watching and snapshots know about a kind beside its type.
// CONTRIBUTING.md, "A kind that the scheduler uses", lists what else a new kind needs.
namespace strata::objects {

enum class Scope : std::uint8_t { kCluster, kNamespaced };

// Where objects of a kind are read. Each value includes those before it.
enum class Use : std::uint8_t {
  kManifests,  // files; elsewhere only single objects are read, by name
  kSnapshot,   // `strata snapshot` and the commands that read a running cluster
  kScheduler,  // `strata scheduler` watches it
};

struct Kind {
  std::string_view group;  // "" for core
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  Scope scope = Scope::kNamespaced;
  Use use = Use::kScheduler;
  // The scheduler starts although the server does not serve it.
  bool may_be_missing = false;
};

// In the order in which a snapshot holds them.
inline constexpr std::array kKinds = {
    Kind{"", "v1", "Namespace", "namespaces", Scope::kCluster},
    Kind{"", "v1", "Node", "nodes", Scope::kCluster},
    Kind{"topology.volcano.sh", "v1alpha1", "HyperNode", "hypernodes", Scope::kCluster},
    Kind{"nodeinfo.volcano.sh",
         "v1alpha1",
         "Numatopology",
         "numatopologies",
         Scope::kCluster,
         Use::kScheduler,
         /*may_be_missing=*/true},
    Kind{"storage.k8s.io", "v1", "CSINode", "csinodes", Scope::kCluster},
    Kind{"storage.k8s.io", "v1", "StorageClass", "storageclasses", Scope::kCluster},
    Kind{"", "v1", "PersistentVolume", "persistentvolumes", Scope::kCluster},
    Kind{"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", Scope::kCluster},
    Kind{"scheduling.volcano.sh", "v1beta1", "Queue", "queues", Scope::kCluster},
    Kind{"", "v1", "ResourceQuota", "resourcequotas"},
    Kind{"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"},
    Kind{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"},
    Kind{"batch.volcano.sh", "v1alpha1", "Job", "jobs", Scope::kNamespaced, Use::kSnapshot},
    Kind{"scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups"},
    Kind{"", "v1", "Pod", "pods"},
    Kind{"", "v1", "ConfigMap", "configmaps", Scope::kNamespaced, Use::kManifests},
    Kind{"", "v1", "Secret", "secrets", Scope::kNamespaced, Use::kManifests},
};

// "v1", "scheduling.volcano.sh/v1beta1".
[[nodiscard]] inline std::string ApiVersion(const Kind& kind) {
  if (kind.group.empty()) return std::string(kind.version);
  return std::string(kind.group) + "/" + std::string(kind.version);
}

// The row of a kind. Does not compile when the table has none.
consteval const Kind& KindNamed(std::string_view name) {
  return *std::find_if(
      kKinds.begin(), kKinds.end(), [&](const Kind& row) { return row.kind == name; });
}

}  // namespace strata::objects
