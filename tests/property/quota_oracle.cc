#include "tests/property/quota_oracle.h"

#include <algorithm>
#include <limits>

namespace strata::testing {
namespace {

const std::string kTop = "root";

}  // namespace

QuotaOracle::QuotaOracle(const ClusterState& state) : state_(state) {
  for (const QueueId id : state.workload().queues()) {
    specs_[state.workload().queue(id).spec.name] = &state.workload().queue(id).spec;
  }
}

std::vector<std::string> QuotaOracle::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, spec] : specs_) {
    if (name != kTop) names.push_back(name);
  }
  return names;
}

std::vector<std::string> QuotaOracle::ChildrenOf(const std::string& queue) const {
  std::vector<std::string> children;
  for (const auto& [name, spec] : specs_) {
    const std::string& parent = spec->parent.empty() ? kTop : spec->parent;
    if (name != kTop && parent == queue) children.push_back(name);
  }
  return children;
}

double QuotaOracle::GuaranteedBelow(const std::string& queue, ResourceId resource) const {
  double sum = 0;
  for (const std::string& child : ChildrenOf(queue)) sum += Guarantee(child, resource);
  return sum;
}

double QuotaOracle::Guarantee(const std::string& queue, ResourceId resource) const {
  const auto it = specs_.find(queue);
  const Amount own = it == specs_.end() ? 0 : it->second->guarantee.Get(resource);
  return std::max(static_cast<double>(own), GuaranteedBelow(queue, resource));
}

double QuotaOracle::Capability(const std::string& queue, ResourceId resource) const {
  const auto it = specs_.find(queue);
  if (it != specs_.end()) {
    const auto named = it->second->capability.find(resource);
    if (named != it->second->capability.end()) return static_cast<double>(named->second);
  }
  if (queue == kTop) return std::numeric_limits<double>::infinity();
  return Capability(it->second->parent.empty() ? kTop : it->second->parent, resource);
}

double QuotaOracle::RealCapability(const std::string& queue, ResourceId resource) const {
  const double capability = Capability(queue, resource);
  if (queue == kTop) {
    if (Guarantee(kTop, resource) <= 0) return capability;
    double total = 0;
    for (const NodeId node : state_.nodes().all()) {
      total += static_cast<double>(state_.nodes().spec(node).allocatable.Get(resource));
    }
    return std::min(capability, total);
  }
  const std::string parent = specs_.at(queue)->parent.empty() ? kTop : specs_.at(queue)->parent;
  const double free =
      std::max(RealCapability(parent, resource) - GuaranteedBelow(parent, resource), 0.0);
  return std::min(capability, free + Guarantee(queue, resource));
}

double QuotaOracle::Deserved(const std::string& queue, ResourceId resource) const {
  if (queue == kTop) {
    double sum = 0;
    for (const std::string& child : ChildrenOf(kTop)) sum += Deserved(child, resource);
    return sum;
  }
  const QueueSpec& spec = *specs_.at(queue);
  const auto named = spec.deserved.find(resource);
  return static_cast<double>(
      std::max(named == spec.deserved.end() ? 0 : named->second, spec.guarantee.Get(resource)));
}

double QuotaOracle::Held(const std::string& queue, ResourceId resource) const {
  double held = 0;
  for (const TaskId id : state_.workload().AllTasks()) {
    const Task& task = state_.workload().task(id);
    const bool holds = IsAllocated(task.status) || task.status == TaskStatus::kPipelined;
    if (!holds || !task.job.valid() || state_.workload().job(task.job).spec.queue != queue) {
      continue;
    }
    held += static_cast<double>(state_.classes().spec(task.class_id).request.Get(resource));
  }
  for (const std::string& child : ChildrenOf(queue)) held += Held(child, resource);
  return held;
}

double QuotaOracle::Owed(const std::string& queue, ResourceId resource) const {
  double below = 0;
  for (const std::string& child : ChildrenOf(queue)) below += Owed(child, resource);
  return std::max(below, Guarantee(queue, resource) - Held(queue, resource));
}

double QuotaOracle::Share(const std::string& queue) const {
  double share = 0;
  bool deserves = false;
  for (std::size_t i = 0; i < state_.resource_names().size(); ++i) {
    const auto resource = IdAt<ResourceId>(i);
    if (Deserved(queue, resource) < 0.1) continue;
    deserves = deserves || resource != kPods;
    share = std::max(share, Held(queue, resource) / Deserved(queue, resource));
  }
  return deserves ? share : 1;
}

}  // namespace strata::testing
