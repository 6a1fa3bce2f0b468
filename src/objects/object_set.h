#pragma once

#include <string>
#include <vector>

#include "objects/hypernode.h"
#include "objects/job.h"
#include "objects/node.h"
#include "objects/numa_topology.h"
#include "objects/pod.h"
#include "objects/pod_group.h"
#include "objects/policy.h"
#include "objects/queue.h"
#include "objects/secret.h"
#include "objects/storage.h"

namespace strata::objects {

// The loaded objects of the kinds in kinds.h. Each vector is ascending by (namespace, name),
// without duplicates, whatever the order of the input.
struct ObjectSet {
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::vector<Namespace> namespaces;
  std::vector<ConfigMap> config_maps;
  std::vector<Secret> secrets;
  std::vector<PersistentVolume> volumes;
  std::vector<PersistentVolumeClaim> claims;
  std::vector<ResourceQuota> quotas;
  std::vector<StorageClass> storage_classes;
  std::vector<CsiNode> csi_nodes;
  std::vector<PriorityClass> priority_classes;
  std::vector<PodDisruptionBudget> disruption_budgets;
  std::vector<PodGroup> pod_groups;
  std::vector<Queue> queues;
  std::vector<HyperNode> hypernodes;
  std::vector<Job> jobs;
  std::vector<NumaTopology> numa_topologies;

  // One line each, sorted: kinds nobody reads, and what is used otherwise than it was written.
  std::vector<std::string> warnings;
  std::vector<std::string> faults;  // what ParseManifests found in objects that it accepted
};

// Calls `visit(kind, list)` for each list of `set`, const or not: the one place that joins a kind
// to its list.
template <typename Set, typename Visit>
void ForEachList(Set& set, const Visit& visit) {
  visit("Node", set.nodes);
  visit("Pod", set.pods);
  visit("Namespace", set.namespaces);
  visit("ConfigMap", set.config_maps);
  visit("Secret", set.secrets);
  visit("PersistentVolume", set.volumes);
  visit("PersistentVolumeClaim", set.claims);
  visit("ResourceQuota", set.quotas);
  visit("StorageClass", set.storage_classes);
  visit("CSINode", set.csi_nodes);
  visit("PriorityClass", set.priority_classes);
  visit("PodDisruptionBudget", set.disruption_budgets);
  visit("PodGroup", set.pod_groups);
  visit("Queue", set.queues);
  visit("HyperNode", set.hypernodes);
  visit("Job", set.jobs);
  visit("Numatopology", set.numa_topologies);
}

}  // namespace strata::objects
