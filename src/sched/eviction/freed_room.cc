#include "sched/eviction/freed_room.h"

#include <algorithm>
#include <limits>

namespace strata {

FreedRoom::FreedRoom(Session& session, const Wanted& wanted, HyperNodeId domain)
    : state_(session.state()) {
  const auto nodes = session.tree().NodesOf(domain);
  nodes_.assign(nodes.begin(), nodes.end());
  std::sort(nodes_.begin(), nodes_.end());
  const auto& filters = session.plugins().points().nodes.filters;
  for (const auto& [class_id, count] : wanted) {
    ClassView& view = session.views().Of(class_id);
    const ClassSpec& spec = view.spec();
    Class& one = classes_.emplace_back();
    one.wanted = count;
    one.hopeless = !spec.request.absent().empty();
    const bool only_one = std::any_of(filters.begin(), filters.end(), [&](const auto& filter) {
      return filter.point->ConcernsClass(spec) && filter.point->TakesOnlyOne(spec);
    });
    one.max_per_node = only_one ? 1 : std::numeric_limits<std::uint32_t>::max();
    for (std::size_t i = 0; i < spec.request.size(); ++i) {
      const auto id = IdAt<ResourceId>(i);
      if (spec.request.Get(id) <= 0) continue;
      auto at = std::find(resources_.begin(), resources_.end(), id);
      if (at == resources_.end()) at = resources_.insert(at, id);
      one.request.emplace_back(at - resources_.begin(), spec.request.Get(id));
    }
    for (const NodeId node : nodes_) one.admitted.push_back(view.AdmitsSpec(node));
  }
  for (const NodeId node : nodes_) {
    const auto future = state_.nodes().FutureIdle(node);
    for (const ResourceId id : resources_) free_.push_back(future[id.index()]);
  }
  for (Class& one : classes_) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      one.slots.push_back(CountSlots(one, i));
      one.total += one.slots.back();
    }
  }
}

std::uint64_t FreedRoom::CountSlots(const Class& one, std::size_t node) const {
  if (!one.admitted[node] || one.hopeless) return 0;
  Amount slots = static_cast<Amount>(one.max_per_node);
  for (const auto& [resource, amount] : one.request) {
    const Amount free = free_[node * resources_.size() + resource];
    if (free < amount) return 0;
    slots = std::min(slots, free / amount);
  }
  return static_cast<std::uint64_t>(slots);
}

std::optional<std::size_t> FreedRoom::PositionOf(NodeId node) const {
  const auto it = std::lower_bound(nodes_.begin(), nodes_.end(), node);
  if (it == nodes_.end() || *it != node) return std::nullopt;
  return static_cast<std::size_t>(it - nodes_.begin());
}

void FreedRoom::Change(TaskId id, int sign) {
  const Task& task = state_.workload().task(id);
  const auto node = PositionOf(task.node);
  if (!node) return;
  const Resources& request = state_.classes().spec(task.class_id).request;
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    free_[*node * resources_.size() + i] += sign * request.Get(resources_[i]);
  }
  for (Class& one : classes_) {
    std::uint64_t& slots = one.slots[*node];
    one.total -= slots;
    slots = CountSlots(one, *node);
    one.total += slots;
  }
}

bool FreedRoom::Suffices() const {
  return std::all_of(
      classes_.begin(), classes_.end(), [](const Class& one) { return one.total >= one.wanted; });
}

std::uint64_t FreedRoom::Lacking() const {
  std::uint64_t lacking = 0;
  for (const Class& one : classes_) lacking += one.wanted - std::min(one.wanted, one.total);
  return lacking;
}

std::vector<NodeId> FreedRoom::UsefulNodes() const {
  std::vector<NodeId> useful;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const bool takes_one = std::any_of(
        classes_.begin(), classes_.end(), [&](const Class& one) { return one.admitted[i]; });
    if (takes_one) useful.push_back(nodes_[i]);
  }
  std::sort(useful.begin(), useful.end(), [&](NodeId a, NodeId b) {
    return state_.tree().NameRank(a) < state_.tree().NameRank(b);
  });
  return useful;
}

}  // namespace strata
