#include "replay/room.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace strata::replay {

Room::Room(const Fabric& fabric) : fabric_(&fabric) {
  constexpr std::int64_t kUncounted = std::numeric_limits<std::int64_t>::max() / 2;
  std::int32_t largest = 0;
  for (const Fabric::Node& node : fabric.nodes) {
    gpus_.push_back(node.gpus);
    cpu_.push_back(node.cpu_milli > 0 ? node.cpu_milli : kUncounted);
    memory_.push_back(node.memory > 0 ? node.memory : kUncounted);
    largest = std::max(largest, node.gpus);
  }
  pods_.resize(gpus_.size());
  nodes_with_.resize(static_cast<std::size_t>(largest) + 1);
  for (std::size_t level = 0; level <= levels(); ++level) {
    members_.emplace_back(DomainCount(level));
    free_.emplace_back(DomainCount(level));
    whole_.emplace_back(DomainCount(level));
  }
  for (NodeIndex node = 0; node < gpus_.size(); ++node) {
    for (std::size_t level = 0; level <= levels(); ++level) {
      const DomainIndex domain = DomainOf(level, node);
      if (domain != Fabric::kNoDomain) members_[level][domain].push_back(node);
    }
    CountNode(node, +1);
  }
}

std::int32_t Room::Slots(NodeIndex node, const PodShape& pod, std::int32_t enough) const {
  std::int64_t slots = std::min(enough, kMaxPodsPerNode - pods_[node]);
  if (pod.gpus > 0) slots = std::min<std::int64_t>(slots, gpus_[node] / pod.gpus);
  if (pod.cpu_milli > 0) slots = std::min(slots, cpu_[node] / pod.cpu_milli);
  if (pod.memory > 0) slots = std::min(slots, memory_[node] / pod.memory);
  return static_cast<std::int32_t>(slots);
}

std::int64_t Room::MostSlots(std::int32_t gpus) const {
  if (gpus == 0) return std::numeric_limits<std::int64_t>::max();
  std::int64_t slots = 0;
  for (std::size_t free = static_cast<std::size_t>(gpus); free < nodes_with_.size(); ++free) {
    slots += nodes_with_[free] * (static_cast<std::int64_t>(free) / gpus);
  }
  return slots;
}

void Room::Change(NodeIndex node, const PodShape& pod, int sign) {
  CountNode(node, -1);
  gpus_[node] += sign * pod.gpus;
  cpu_[node] += sign * pod.cpu_milli;
  memory_[node] += sign * pod.memory;
  pods_[node] -= sign;
  CHECK(gpus_[node] >= 0 && gpus_[node] <= fabric_->nodes[node].gpus && pods_[node] >= 0);
  CountNode(node, +1);
}

void Room::CountNode(NodeIndex node, int sign) {
  const std::int32_t free = gpus_[node];
  const bool whole = free > 0 && free == fabric_->nodes[node].gpus;
  for (std::size_t level = 0; level <= levels(); ++level) {
    const DomainIndex domain = DomainOf(level, node);
    if (domain == Fabric::kNoDomain) continue;
    free_[level][domain] += std::int64_t{sign} * free;
    if (whole) whole_[level][domain] += sign;
  }
  nodes_with_[static_cast<std::size_t>(free)] += sign;
  if (!whole) stranded_ += std::int64_t{sign} * free;
}

}  // namespace strata::replay
