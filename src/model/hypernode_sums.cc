#include "model/hypernode_sums.h"

#include "base/check.h"

namespace strata {

void HyperNodeSums::Rebuild() const {
  // The node table does not say which part of "future idle" is pipelined.
  CHECK(!nodes_.HasPipelined());
  const std::size_t rows = tree_.hypernodes().size();
  const std::size_t stride = names_.size();
  for (ResourceTable* table : {&sums_.allocatable, &sums_.used, &sums_.idle, &sums_.future_idle}) {
    table->Clear(rows, stride);
  }
  sums_.versions.assign(rows, ++sums_.last_version);
  for (const NodeId node : nodes_.all()) {
    for (const HyperNodeId hypernode : tree_.HyperNodesOf(tree_.ChainOf(node))) {
      sums_.allocatable.AddRow(hypernode.index(), nodes_.Allocatable(node));
      sums_.used.AddRow(hypernode.index(), nodes_.Used(node));
      sums_.idle.AddRow(hypernode.index(), nodes_.Idle(node));
      sums_.future_idle.AddRow(hypernode.index(), nodes_.FutureIdle(node));
    }
  }
  sums_.stale = false;
}

void HyperNodeSums::Replace(NodeId node, const Change& room, const Change& counted) {
  if (sums_.stale) return;
  ++sums_.last_version;
  for (const HyperNodeId hypernode : tree_.HyperNodesOf(tree_.ChainOf(node))) {
    sums_.versions[hypernode.index()] = sums_.last_version;
    sums_.allocatable.Sub(hypernode.index(), counted.out);
    sums_.allocatable.Add(hypernode.index(), counted.in);
    for (ResourceTable* table : {&sums_.idle, &sums_.future_idle}) {
      table->Sub(hypernode.index(), room.out);
      table->Add(hypernode.index(), room.in);
    }
  }
}

void HyperNodeSums::Account(const Task& task,
                            const ClassSpec& spec,
                            const Resources& counted,
                            int sign) {
  if (sums_.stale) return;
  const bool uses = UsesNode(task.status);
  const bool blocks_future = BlocksFuture(task.status);
  ++sums_.last_version;
  for (const HyperNodeId hypernode : tree_.HyperNodesOf(tree_.ChainOf(task.node))) {
    sums_.versions[hypernode.index()] = sums_.last_version;
    sums_.used.AddSigned(hypernode.index(), counted, sign);
    if (uses) sums_.idle.AddSigned(hypernode.index(), spec.request, -sign);
    if (blocks_future) sums_.future_idle.AddSigned(hypernode.index(), spec.request, -sign);
  }
}

void HyperNodeSums::GrowTables() {
  const std::size_t stride = names_.size();
  if (stride <= sums_.allocatable.stride()) return;
  for (ResourceTable* table : {&sums_.allocatable, &sums_.used, &sums_.idle, &sums_.future_idle}) {
    table->Reserve(table->rows(), stride);
  }
}

}  // namespace strata
