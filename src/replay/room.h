#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/fabric.h"
#include "replay/workload.h"

namespace strata::replay {

// What is free on each node, with the sums that rules and figures ask for. Every change costs the
// levels above the node.
class Room {
 public:
  explicit Room(const Fabric& fabric);

  [[nodiscard]] const Fabric& fabric() const { return *fabric_; }
  [[nodiscard]] std::size_t nodes() const { return gpus_.size(); }
  [[nodiscard]] std::size_t levels() const { return fabric_->levels.size(); }
  // The domain of a node; at the level above all others it is 0 for every node.
  [[nodiscard]] DomainIndex DomainOf(std::size_t level, NodeIndex node) const {
    return level < levels() ? fabric_->levels[level].of_node[node] : 0;
  }
  [[nodiscard]] std::size_t DomainCount(std::size_t level) const {
    return level < levels() ? fabric_->levels[level].domains.size() : 1;
  }
  // The nodes below a domain, ascending.
  [[nodiscard]] const std::vector<NodeIndex>& NodesOf(std::size_t level, DomainIndex domain) const {
    return members_[level][domain];
  }

  [[nodiscard]] std::int32_t FreeGpus(NodeIndex node) const { return gpus_[node]; }
  [[nodiscard]] bool IsEmpty(NodeIndex node) const { return pods_[node] == 0; }
  [[nodiscard]] std::int64_t FreeGpus() const { return free_.back()[0]; }
  [[nodiscard]] std::int64_t FreeGpus(std::size_t level, DomainIndex domain) const {
    return free_[level][domain];
  }
  // Nodes in the domain all of whose GPUs are free.
  [[nodiscard]] std::int32_t WholeNodes(std::size_t level, DomainIndex domain) const {
    return whole_[level][domain];
  }
  // Free GPUs on nodes that are neither full nor wholly free.
  [[nodiscard]] std::int64_t StrandedGpus() const { return stranded_; }

  [[nodiscard]] bool Fits(NodeIndex node, const PodShape& pod) const {
    return gpus_[node] >= pod.gpus && pods_[node] < kMaxPodsPerNode &&
           (pod.cpu_milli == 0 || cpu_[node] >= pod.cpu_milli) &&
           (pod.memory == 0 || memory_[node] >= pod.memory);
  }
  // How many such pods the node takes, at most `enough`.
  [[nodiscard]] std::int32_t Slots(NodeIndex node, const PodShape& pod, std::int32_t enough) const;
  // The same over nodes with these many free GPUs; only GPUs are looked at: never fewer than there
  // are. COST: the largest number of GPUs of a node.
  [[nodiscard]] std::int64_t MostSlots(std::int32_t gpus) const;

  void Take(NodeIndex node, const PodShape& pod) { Change(node, pod, -1); }
  void Give(NodeIndex node, const PodShape& pod) { Change(node, pod, +1); }

 private:
  void Change(NodeIndex node, const PodShape& pod, int sign);
  void CountNode(NodeIndex node, int sign);

  const Fabric* fabric_;
  std::vector<std::int32_t> gpus_;  // free, by node, as are the next two
  std::vector<std::int64_t> cpu_;
  std::vector<std::int64_t> memory_;
  std::vector<std::int32_t> pods_;
  std::vector<std::vector<std::vector<NodeIndex>>> members_;  // by level and domain
  std::vector<std::vector<std::int64_t>> free_;               // the same
  std::vector<std::vector<std::int32_t>> whole_;              // the same
  std::vector<std::int64_t> nodes_with_;                      // by free GPUs
  std::int64_t stranded_ = 0;
};

}  // namespace strata::replay
