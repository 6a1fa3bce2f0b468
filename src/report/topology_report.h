#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster_state.h"
#include "model/node.h"
#include "objects/hypernode.h"
#include "objects/meta.h"
#include "report/fragmentation.h"
#include "report/tree_rows.h"

namespace strata {

// The network as it is used now: what `strata topology` shows, and the capacity part of `simulate`.
struct TopologyReport {
  struct Row {
    std::string name;   // the virtual top, first of all, has its own name
    std::string label;  // what discovery found it by, such as the name of the rack; else ""
    std::int32_t tier = 0;
    std::string tier_name;
    std::string parent;     // "" for a root, and for the top
    std::size_t depth = 0;  // 0 for the top, 1 for roots
    bool last = true;       // of the children of its parent
    std::size_t nodes = 0;
    std::size_t cordoned = 0;          // of the nodes; nothing of them is free
    std::size_t not_ready = 0;         // likewise; a cordoned node that is not ready counts here
    std::vector<std::string> members;  // names of the first nodes, of a HyperNode without children
    bool ready = true;
    std::string reason;
    // By `resources`. On a node that registers its GPUs, the GPUs count, not the shares of them:
    // free as in `gpus`, used the others.
    std::vector<Amount> used;
    std::vector<Amount> free;  // likewise; negative where a node shrank under its pods
    std::int64_t pods = 0;     // how many of `pod` fit
  };
  struct TierFit {
    std::int32_t tier = 0;
    std::string tier_name;
    std::string hypernode;  // the one with most room, ties to the lower name
    std::int64_t pods = 0;
  };

  // A node that registers its GPUs.
  struct GpuNode {
    std::string node;
    std::string leaf;  // its lowest HyperNode, the virtual top for none
    std::size_t gpus = 0;
    std::size_t free = 0;                         // healthy, not cordoned, used by nobody
    std::vector<std::vector<std::int32_t>> sets;  // indexes of free GPUs, joined by NVLink
    std::string problem;                          // why it offers none
  };

  std::vector<std::string> resources;  // cpu, memory, then the devices of the cluster
  objects::ResourceList pod;
  std::vector<Row> rows;           // depth first, children by name; those left out of the tree last
  std::size_t hidden = 0;          // rows that the view leaves out
  std::size_t depth = 0;           // down to which the tree is shown where rows are hidden
  std::vector<TierFit> tiers;      // ascending; the last is the whole cluster
  std::vector<std::string> loose;  // names of nodes in no HyperNode, where there are HyperNodes
  std::vector<GpuNode> gpus;       // ascending by name
  std::optional<FragmentationReport> fragmentation;  // of the whole cluster; optional
  bool ready = true;
};

// Whether a node takes pods at all, as its taints and its spec say. Any other taint may be
// tolerated.
enum class NodeMark : std::uint8_t { kOpen, kCordoned, kNotReady };
[[nodiscard]] NodeMark MarkOf(const NodeSpec& node);

// The shape of a pod from "cpu=8,nvidia.com/gpu=8". kInvalidArgument with one sentence, also when
// an amount is one that no pod can ask for.
[[nodiscard]] Result<objects::ResourceList> ParsePodShape(std::string_view text);

// All GPUs of the node that has most of them, or all CPUs of the largest node where there are no
// GPUs. A GPU is a resource whose name ends in "/gpu"; of a node that registers its GPUs, those
// count, not the shares that may be made of them.
[[nodiscard]] objects::ResourceList DefaultPodShape(const ClusterState& state);

// Counts, per HyperNode, how many pods of that shape (without tolerations) fit into what is idle.
// kInvalidArgument when an amount of `pod` does not fit into 64 bits.
// REQUIRES: between cycles. COST: O(nodes x depth of the tree).
[[nodiscard]] Result<TopologyReport> MakeTopologyReport(const ClusterState& state,
                                                        const objects::ResourceList& pod);

// The same numbers alone: `pods` by HyperNodeId. Error, precondition and cost are those of
// MakeTopologyReport, without the names and the sums.
[[nodiscard]] Result<std::vector<std::int64_t>> CountPodsThatFit(const ClusterState& state,
                                                                 const objects::ResourceList& pod);
// The HyperNode with most room of each tier, by such numbers: what TopologyReport::tiers says.
[[nodiscard]] std::vector<TopologyReport::TierFit> BestOfTiers(
    const HyperNodeTree& tree, const std::vector<std::int64_t>& pods);

// Gives the rows of discovered HyperNodes the label by which they were found.
void AddLabels(const std::vector<objects::HyperNode>& hypernodes, TopologyReport& report);

// Leaves what the view shows. kNotFound when there is nothing of the name in `view.under`.
[[nodiscard]] Status Narrow(const TreeView& view, TopologyReport& report);
// The HyperNode's label of the tier, where discovery wrote one; else "".
[[nodiscard]] std::string DiscoveredLabel(const objects::HyperNode& hypernode);

}  // namespace strata
