#include "sched/plugins/capacity_tree.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata {
namespace {

Amounts TotalOf(const ClusterState& state) {
  return ToAmounts(state.sums().Allocatable(state.tree().top()), state.resource_names().size());
}

// What is left of `amounts` without `less`, at least nothing.
Amounts Without(Amounts amounts, const Amounts& less) {
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    amounts[i] = std::max(amounts[i] - less[i], 0.0);
  }
  return amounts;
}

Amounts SumOf(Amounts sum, const Amounts& more) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  return sum;
}

void AtLeast(Amounts& amounts, const Amounts& least) {
  for (std::size_t i = 0; i < amounts.size(); ++i) amounts[i] = std::max(amounts[i], least[i]);
}

void AtMost(Amounts& amounts, const Amounts& max) {
  for (std::size_t i = 0; i < amounts.size(); ++i) amounts[i] = std::min(amounts[i], max[i]);
}

}  // namespace

bool CapacityQueue::Deserves() const {
  for (std::size_t i = 0; i < deserved.size(); ++i) {
    if (i != kPods.index() && deserved[i] >= kNothing) return true;
  }
  return false;
}

CapacityTree::CapacityTree(const ClusterState& state, Shape shape) {
  for (const QueueId id : state.workload().queues()) Add(state, id);
  if (shape == Shape::kFlat) {
    FinishFlat(state);
  } else {
    FinishHierarchy(state);
  }
}

void CapacityTree::Add(const ClusterState& state, QueueId id) {
  const std::size_t size = state.resource_names().size();
  const std::size_t index = queues_.size();
  CapacityQueue queue{.name = std::string(kRootQueue),
                      .queue = id,
                      .path = {index},
                      .children = {},
                      .below = {},
                      .guarantee = Amounts(size, 0.0),
                      .capability = Amounts(size, kUnlimited),
                      .real_capability = Amounts(size, kUnlimited),
                      .deserved = Amounts(size, 0.0),
                      .fault = std::nullopt};
  if (id.valid()) {
    if (id.index() >= of_.size()) of_.resize(id.index() + 1);
    of_[id.index()] = index;
    const QueueSpec& spec = state.workload().queue(id).spec;
    queue.name = spec.name;
    queue.below = {id};
    for (std::size_t i = 0; i < size; ++i) {
      queue.guarantee[i] = static_cast<double>(spec.guarantee.Get(IdAt<ResourceId>(i)));
    }
    for (const auto& [resource, limit] : spec.capability) {
      if ((resource == kCpu || resource == kMemory) && limit <= 0) continue;
      if (IsAbsent(resource)) continue;
      queue.capability[resource.index()] = static_cast<double>(limit);
    }
    for (const auto& [resource, amount] : spec.deserved) {
      if (!IsAbsent(resource)) queue.deserved[resource.index()] = static_cast<double>(amount);
    }
  }
  queues_.push_back(std::move(queue));
}

void CapacityTree::FinishFlat(const ClusterState& state) {
  Amounts guaranteed(state.resource_names().size(), 0.0);
  for (const CapacityQueue& queue : queues_) guaranteed = SumOf(guaranteed, queue.guarantee);
  const Amounts free = Without(TotalOf(state), guaranteed);
  for (CapacityQueue& queue : queues_) {
    queue.real_capability = SumOf(free, queue.guarantee);
    AtMost(queue.real_capability, queue.capability);
    AtMost(queue.deserved, queue.real_capability);
    AtLeast(queue.deserved, queue.guarantee);
  }
}

void CapacityTree::FinishHierarchy(const ClusterState& state) {
  const std::vector<std::size_t> order = Link(state);
  for (CapacityQueue& queue : queues_) AtLeast(queue.deserved, queue.guarantee);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    CapacityQueue& queue = queues_[*it];
    Amounts guaranteed(queue.guarantee.size(), 0.0);
    for (const std::size_t child : queue.children) {
      guaranteed = SumOf(guaranteed, queues_[child].guarantee);
      queue.below.insert(
          queue.below.end(), queues_[child].below.begin(), queues_[child].below.end());
    }
    AtLeast(queue.guarantee, guaranteed);
  }
  CapacityQueue& root = queues_[order.front()];
  root.deserved.assign(root.deserved.size(), 0.0);
  for (const std::size_t child : root.children) {
    root.deserved = SumOf(root.deserved, queues_[child].deserved);
  }
  root.real_capability = root.capability;
  const Amounts total = TotalOf(state);
  for (std::size_t i = 0; i < total.size(); ++i) {
    if (root.guarantee[i] <= 0) continue;  // nothing to keep free: a job larger than now may enter
    root.real_capability[i] = std::min(root.real_capability[i], total[i]);
  }
  for (const std::size_t index : order) LimitChildren(index);
}

std::vector<std::size_t> CapacityTree::Link(const ClusterState& state) {
  std::map<std::string_view, std::size_t> by_name;
  for (std::size_t i = 0; i < queues_.size(); ++i) by_name.emplace(queues_[i].name, i);
  if (!by_name.contains(kRootQueue)) {
    Add(state, QueueId{});
    by_name.clear();  // the names have moved
    for (std::size_t i = 0; i < queues_.size(); ++i) by_name.emplace(queues_[i].name, i);
  }
  const std::size_t root = by_name.at(kRootQueue);
  std::vector<std::optional<std::size_t>> parents(queues_.size());
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    if (i == root) continue;
    const std::string& named = state.workload().queue(queues_[i].queue).spec.parent;
    const auto it = by_name.find(named.empty() ? kRootQueue : std::string_view(named));
    if (it == by_name.end()) continue;
    parents[i] = it->second;
    queues_[it->second].children.push_back(i);
  }
  std::vector<std::size_t> order{root};
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (const std::size_t child : queues_[order[next]].children) {
      const std::vector<std::size_t>& above = queues_[order[next]].path;
      queues_[child].path.insert(queues_[child].path.end(), above.begin(), above.end());
      order.push_back(child);
    }
  }
  std::vector<bool> hangs(queues_.size(), true);
  for (const std::size_t index : order) hangs[index] = false;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    CapacityQueue& queue = queues_[i];
    if (hangs[i]) {
      queue.fault = FaultOf(i, parents);
      queue.real_capability = queue.capability;
    } else if (!queue.children.empty()) {
      std::vector<std::string_view> names;
      for (const std::size_t child : queue.children) names.push_back(queues_[child].name);
      queue.fault = Refusal{"QueueNotLeaf",
                            fmt::format("queue {} has child queues ({}), so it takes no jobs",
                                        queue.name,
                                        fmt::join(names, ", "))};
    }
  }
  return order;
}

Refusal CapacityTree::FaultOf(std::size_t index,
                              const std::vector<std::optional<std::size_t>>& parents) const {
  const std::string& name = queues_[index].name;
  std::vector<std::size_t> climbed{index};
  while (parents[climbed.back()]) {
    const std::size_t parent = *parents[climbed.back()];
    if (parent == index) {
      return {"QueueCycle", fmt::format("queue {} is its own ancestor", name)};
    }
    if (std::find(climbed.begin(), climbed.end(), parent) != climbed.end()) {
      return {
          "QueueCycle",
          fmt::format(
              "queue {} is below queue {}, which is its own ancestor", name, queues_[parent].name)};
    }
    climbed.push_back(parent);
  }
  if (climbed.size() == 1) {
    return {"QueueParentMissing", fmt::format("the parent of queue {} does not exist", name)};
  }
  return {"QueueParentMissing",
          fmt::format("queue {} is below queue {}, whose parent does not exist",
                      name,
                      queues_[climbed.back()].name)};
}

void CapacityTree::LimitChildren(std::size_t index) {
  const CapacityQueue& parent = queues_[index];
  Amounts guaranteed(parent.guarantee.size(), 0.0);
  for (const std::size_t child : parent.children) {
    guaranteed = SumOf(guaranteed, queues_[child].guarantee);
  }
  const Amounts free = Without(parent.real_capability, guaranteed);
  for (const std::size_t index_of_child : parent.children) {
    CapacityQueue& child = queues_[index_of_child];
    for (std::size_t i = 0; i < child.capability.size(); ++i) {
      if (child.capability[i] == kUnlimited) child.capability[i] = parent.capability[i];
    }
    child.real_capability = SumOf(free, child.guarantee);
    AtMost(child.real_capability, child.capability);
  }
}

std::optional<std::size_t> CapacityTree::Find(QueueId queue) const {
  return queue.valid() && queue.index() < of_.size() ? of_[queue.index()] : std::nullopt;
}

double CapacityTree::Allocated(const ClusterState& state,
                               std::size_t index,
                               ResourceId resource) const {
  Amount sum = 0;
  for (const QueueId id : queues_[index].below) {
    sum += state.workload().queue(id).allocated.Get(resource);
  }
  return static_cast<double>(sum);
}

double CapacityTree::ShareOf(const ClusterState& state, std::size_t index) const {
  const CapacityQueue& queue = queues_[index];
  if (!queue.Deserves()) return 1;
  double share = 0;
  for (std::size_t i = 0; i < queue.deserved.size(); ++i) {
    if (queue.deserved[i] < kNothing) continue;
    share = std::max(share, Allocated(state, index, IdAt<ResourceId>(i)) / queue.deserved[i]);
  }
  return share;
}

}  // namespace strata
