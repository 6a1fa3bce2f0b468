#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "model/hypernode_tree.h"
#include "model/node_table.h"
#include "model/resources.h"
#include "model/workload.h"

namespace strata {

// The amounts of every HyperNode: the sums over its nodes, in the two units of NodeTable.
//
// Contract: a read is always up to date. A change of the tree, a new node and a removed node
// invalidate all sums; the next read, or Settle, adds them up again from the node table,
// O(nodes * depth). Everything else is followed along the HyperNodes of one node.
//
// The rebuild cannot tell pipelined tasks apart, so it happens between cycles: the journal settles
// the sums before it places a task. HyperNodeIds are those of the tree, and spans are valid until
// the next change.
class HyperNodeSums {
 public:
  HyperNodeSums(const ResourceNames& names, const NodeTable& nodes, const HyperNodeTree& tree)
      : names_(names), nodes_(nodes), tree_(tree) {}

  [[nodiscard]] std::span<const Amount> Allocatable(HyperNodeId id) const {
    return sums().allocatable[id.index()];
  }
  // Used by tasks or kept for pipelined ones: what the scores of HyperNodes count.
  [[nodiscard]] std::span<const Amount> Used(HyperNodeId id) const {
    return sums().used[id.index()];
  }
  [[nodiscard]] std::span<const Amount> Idle(HyperNodeId id) const {
    return sums().idle[id.index()];
  }
  [[nodiscard]] std::span<const Amount> FutureIdle(HyperNodeId id) const {
    return sums().future_idle[id.index()];
  }
  // Another number whenever one of the four may have changed.
  [[nodiscard]] std::uint64_t Version(HyperNodeId id) const { return sums().versions[id.index()]; }

  // Does now what the first read after a change would do: resolve the tree, add up.
  void Settle() const { static_cast<void>(sums()); }

  // ---- changes, by those who change nodes and tasks
  void Invalidate() { sums_.stale = true; }
  // A node that stays in its HyperNodes has another room, or counts as something else.
  struct Change {
    const Resources& out;
    const Resources& in;
  };
  void Replace(NodeId node, const Change& room, const Change& counted);
  // Adds (+1) or removes (-1) the part that `task` has in the HyperNodes of its node.
  void Account(const Task& task, const ClassSpec& spec, const Resources& counted, int sign);
  // Makes room for every known resource. Nobody has anything of a new one: the sums stay true.
  void GrowTables();

 private:
  struct Sums {
    bool stale = true;
    ResourceTable allocatable, used, idle, future_idle;
    std::uint64_t last_version = 0;
    std::vector<std::uint64_t> versions;  // by HyperNode
  };

  [[nodiscard]] const Sums& sums() const {
    if (sums_.stale) Rebuild();
    return sums_;
  }
  void Rebuild() const;

  const ResourceNames& names_;
  const NodeTable& nodes_;
  const HyperNodeTree& tree_;
  mutable Sums sums_;
};

}  // namespace strata
