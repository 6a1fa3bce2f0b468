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

// Everything that was loaded. Each vector is ascending by (namespace, name), without duplicates,
// whatever the order of the input.
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
};

}  // namespace strata::objects
