#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/cluster_state.h"
#include "objects/hypernode.h"
#include "report/text.h"
#include "report/tree_rows.h"

namespace strata::inspect {

// What is taken of a cluster, in requests as the scheduler counts them: what `strata top` shows.
struct UsageReport {
  struct Node {
    std::string name;
    std::string leaf;          // its lowest HyperNode; "" when it is in none
    std::string note;          // why it takes no pods: "cordoned", a taint
    std::vector<Amount> used;  // by `resources`
    std::vector<Amount> free;  // nothing of a node that is cordoned or not ready
    std::vector<Amount> allocatable;
  };
  // A HyperNode with the sums of what is below it; at the leaves of the tree, a node.
  struct Row {
    std::string name;   // the virtual top, first of all, has its own name
    std::string label;  // what discovery found it by; else ""
    std::size_t depth = 0;
    bool last = true;
    bool is_node = false;
    std::size_t nodes = 0;
    std::string note;  // "2 cordoned", "1 not ready"; of a node why it takes no pods
    std::vector<Amount> used;
    std::vector<Amount> free;
    std::vector<Amount> allocatable;
  };
  struct Queue {
    std::string name;
    std::string state;
    std::vector<Amount> allocated;  // by `resources`, of the queue itself
    std::vector<Amount> pending;    // asked for by pods that wait
  };

  std::vector<std::string> resources;  // cpu, memory, pods, then the devices of the cluster
  std::vector<Node> nodes;             // by name, numbers in names as numbers
  std::vector<Row> rows;               // depth first, the cluster first; children by name
  std::size_t hidden = 0;              // rows that the view leaves out
  std::size_t depth = 0;               // down to which the tree is shown where rows are hidden
  std::vector<Queue> queues;           // by name
  std::vector<Amount> used;            // of all nodes
  std::vector<Amount> free;
  std::vector<Amount> allocatable;
};

// Why the node takes no pods: "cordoned", "not ready", "taint KEY"; "" when it does.
[[nodiscard]] std::string NodeNote(const NodeSpec& node);
// The resources that people are shown: cpu, memory, pods, then the devices that a node has, by
// name.
[[nodiscard]] std::vector<ResourceId> ShownResourceIds(const ClusterState& state);

// `hypernodes` give the labels. REQUIRES: between cycles.
[[nodiscard]] UsageReport MakeUsageReport(const ClusterState& state,
                                          const std::vector<objects::HyperNode>& hypernodes = {});

// Leaves the rows that the view shows, and of the nodes those below `view.under`. kNotFound when
// there is nothing of that name.
[[nodiscard]] Status Narrow(const TreeView& view, UsageReport& report);

[[nodiscard]] std::string RenderTable(const UsageReport& report, const TextStyle& style);
// One document that ends in a newline; amounts are quantities, as Kubernetes writes them.
[[nodiscard]] std::string RenderJson(const UsageReport& report);

}  // namespace strata::inspect
