#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/cluster_state.h"
#include "report/text.h"

namespace strata::inspect {

// What is taken of a cluster, in requests as the scheduler counts them: what `strata top` shows.
struct UsageReport {
  struct Node {
    std::string name;
    std::string leaf;          // its lowest HyperNode; "" when it is in none
    std::string note;          // why it takes no pods: "cordoned", a taint
    std::vector<Amount> used;  // by `resources`
    std::vector<Amount> allocatable;
  };
  struct Queue {
    std::string name;
    std::string state;
    std::vector<Amount> allocated;  // by `resources`, of the queue itself
    std::vector<Amount> pending;    // asked for by pods that wait
  };

  std::vector<std::string> resources;  // cpu, memory, pods, then the devices of the cluster
  std::vector<Node> nodes;             // ascending by name
  std::vector<Queue> queues;           // likewise
  std::vector<Amount> used;            // of all nodes
  std::vector<Amount> allocatable;
};

// REQUIRES: between cycles.
[[nodiscard]] UsageReport MakeUsageReport(const ClusterState& state);

[[nodiscard]] std::string RenderTable(const UsageReport& report, const TextStyle& style);
// One document that ends in a newline; amounts are quantities, as Kubernetes writes them.
[[nodiscard]] std::string RenderJson(const UsageReport& report);

}  // namespace strata::inspect
