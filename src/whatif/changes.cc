#include "whatif/changes.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "convert/gpu_annotations.h"
#include "convert/specs.h"
#include "objects/pod_request.h"

namespace strata {
namespace {

template <typename Object>
Object* FindByName(std::vector<Object>& list, std::string_view name) {
  const auto it = std::find_if(list.begin(), list.end(), [&](const Object& object) {
    return objects::NamespacedName(object.meta) == name;
  });
  return it == list.end() ? nullptr : &*it;
}

template <typename Function>
void ForWaitingPods(objects::ObjectSet& objects, std::string_view group, const Function& change) {
  for (objects::Pod& pod : objects.pods) {
    if (pod.spec.node_name.empty() && GroupOf(pod) == group) change(pod);
  }
}

// The number behind the last '-', so that pod 10 comes after pod 9.
std::pair<std::size_t, std::string> ByNumber(const std::string& name) {
  return {name.size(), name};
}

// What the first `count` pods of the group ask for, those of higher priority first.
objects::ResourceList RequestOfFirst(const objects::ObjectSet& objects,
                                     std::string_view group,
                                     std::int32_t count) {
  std::vector<const objects::Pod*> pods;
  for (const objects::Pod& pod : objects.pods) {
    if (GroupOf(pod) == group) pods.push_back(&pod);
  }
  std::sort(pods.begin(), pods.end(), [](const objects::Pod* a, const objects::Pod* b) {
    return std::tuple(-a->spec.priority.value_or(0), ByNumber(a->meta.name)) <
           std::tuple(-b->spec.priority.value_or(0), ByNumber(b->meta.name));
  });
  objects::ResourceList sum;
  for (std::size_t i = 0; i < std::min(pods.size(), static_cast<std::size_t>(count)); ++i) {
    for (const auto& [name, amount] : objects::QuotaUsage(*pods[i])) sum[name] += amount;
  }
  return sum;
}

void SetOrErase(objects::ResourceList& list,
                const std::string& resource,
                const std::optional<Quantity>& amount) {
  if (amount) {
    list[resource] = *amount;
  } else {
    list.erase(resource);
  }
}

template <typename Predicate>
void ForNodes(objects::ObjectSet& objects,
              const std::vector<std::string>& names,
              const Predicate& change) {
  for (objects::Node& node : objects.nodes) {
    if (std::find(names.begin(), names.end(), node.meta.name) != names.end()) change(node);
  }
}

}  // namespace

const objects::PodGroup* FindGroup(const objects::ObjectSet& objects, std::string_view group) {
  const auto it = std::find_if(
      objects.pod_groups.begin(), objects.pod_groups.end(), [&](const objects::PodGroup& one) {
        return objects::NamespacedName(one.meta) == group;
      });
  return it == objects.pod_groups.end() ? nullptr : &*it;
}

std::vector<const objects::Pod*> WaitingPodsOf(const objects::ObjectSet& objects,
                                               std::string_view group) {
  std::vector<const objects::Pod*> pods;
  for (const objects::Pod& pod : objects.pods) {
    if (pod.spec.node_name.empty() && GroupOf(pod) == group) pods.push_back(&pod);
  }
  return pods;
}

void SetTopology(objects::ObjectSet& objects,
                 std::string_view group,
                 std::optional<std::size_t> policy,
                 const objects::NetworkTopology& topology) {
  objects::PodGroup* found = FindByName(objects.pod_groups, group);
  if (found == nullptr) return;
  (policy ? found->sub_groups[*policy].topology : found->topology) = topology;
}

void SetMinMember(objects::ObjectSet& objects, std::string_view group, std::int32_t count) {
  objects::PodGroup* found = FindByName(objects.pod_groups, group);
  if (found == nullptr) return;
  found->min_member = count;
  if (found->min_resources) found->min_resources = RequestOfFirst(objects, group, count);
}

void SetMinSubGroups(objects::ObjectSet& objects,
                     std::string_view group,
                     std::size_t policy,
                     std::int32_t count) {
  objects::PodGroup* found = FindByName(objects.pod_groups, group);
  if (found == nullptr) return;
  objects::SubGroupPolicy& changed = found->sub_groups[policy];
  const std::int32_t fewer = (changed.min_sub_groups - count) * changed.sub_group_size;
  changed.min_sub_groups = count;
  SetMinMember(objects, group, std::max(found->min_member - fewer, 1));
}

void RemoveGates(objects::ObjectSet& objects, std::string_view group) {
  ForWaitingPods(objects, group, [](objects::Pod& pod) { pod.spec.scheduling_gates.clear(); });
}

void Tolerate(objects::ObjectSet& objects, std::string_view group, const Taint& taint) {
  ForWaitingPods(objects, group, [&](objects::Pod& pod) {
    pod.spec.tolerations.push_back({.key = taint.key,
                                    .op = Toleration::Op::kEqual,
                                    .value = taint.value,
                                    .effect = taint.effect});
  });
}

void DropNodeSelector(objects::ObjectSet& objects, std::string_view group, std::string_view key) {
  ForWaitingPods(
      objects, group, [&](objects::Pod& pod) { pod.spec.node_selector.erase(std::string(key)); });
}

void DropNodeRequirement(objects::ObjectSet& objects,
                         std::string_view group,
                         const Requirement& requirement) {
  ForWaitingPods(objects, group, [&](objects::Pod& pod) {
    auto& required = pod.spec.node_affinity.required;
    if (!required) return;
    bool unbound = false;
    for (NodeSelectorTerm& term : *required) {
      const std::size_t dropped =
          std::erase(term.labels, requirement) + std::erase(term.fields, requirement);
      unbound = unbound || (dropped > 0 && term.labels.empty() && term.fields.empty());
    }
    if (unbound) required.reset();
  });
}

void DropPodTerm(objects::ObjectSet& objects,
                 std::string_view group,
                 PodTermKind kind,
                 const objects::PodAffinityTerm& term) {
  ForWaitingPods(objects, group, [&](objects::Pod& pod) {
    std::erase(kind == PodTermKind::kAffinity ? pod.spec.pod_affinity.required
                                              : pod.spec.pod_anti_affinity.required,
               term);
  });
}

void DropSpread(objects::ObjectSet& objects,
                std::string_view group,
                const objects::TopologySpreadConstraint& spread) {
  ForWaitingPods(objects, group, [&](objects::Pod& pod) { std::erase(pod.spec.spread, spread); });
}

void Uncordon(objects::ObjectSet& objects, const std::vector<std::string>& nodes) {
  ForNodes(objects, nodes, [](objects::Node& node) {
    node.unschedulable = false;
    std::erase_if(node.taints, IsCordon);
  });
}

void MakeReady(objects::ObjectSet& objects, const std::vector<std::string>& nodes) {
  ForNodes(objects, nodes, [](objects::Node& node) {
    std::erase_if(node.conditions,
                  [](const objects::Condition& condition) { return condition.type == "Ready"; });
    std::erase_if(node.taints, IsUnready);
  });
}

bool IsCordon(const Taint& taint) {
  return taint.key == "node.kubernetes.io/unschedulable";
}

bool IsUnready(const Taint& taint) {
  return taint.key == "node.kubernetes.io/not-ready" ||
         taint.key == "node.kubernetes.io/unreachable";
}

void OpenQueue(objects::ObjectSet& objects, std::string_view queue) {
  objects::Queue* found = FindByName(objects.queues, queue);
  if (found != nullptr) found->state = objects::QueueState::kOpen;
}

void SetCapability(objects::ObjectSet& objects,
                   std::string_view queue,
                   const std::string& resource,
                   std::optional<Quantity> amount) {
  objects::Queue* found = FindByName(objects.queues, queue);
  if (found != nullptr) SetOrErase(found->capability, resource, amount);
}

void SetWeight(objects::ObjectSet& objects, std::string_view queue, std::int32_t weight) {
  objects::Queue* found = FindByName(objects.queues, queue);
  if (found != nullptr) found->weight = weight;
}

void SetHard(objects::ObjectSet& objects,
             std::string_view quota,
             const std::string& resource,
             std::optional<Quantity> amount) {
  objects::ResourceQuota* found = FindByName(objects.quotas, quota);
  if (found != nullptr) SetOrErase(found->hard, resource, amount);
}

bool StaysWithItsNode(const objects::Pod& pod) {
  return std::any_of(pod.meta.owners.begin(), pod.meta.owners.end(), [](const auto& owner) {
    return owner.controller && (owner.kind == "DaemonSet" || owner.kind == "Node");
  });
}

void ReleaseGroup(objects::ObjectSet& objects, std::string_view group) {
  if (objects::PodGroup* found = FindByName(objects.pod_groups, group)) {
    found->phase = objects::PodGroupPhase::kPending;
  }
  for (objects::Pod& pod : objects.pods) {
    if (GroupOf(pod) != group) continue;
    pod.spec.node_name.clear();
    pod.status.phase = objects::PodPhase::kPending;
    EraseGpuClaim(pod.meta.annotations);
  }
}

void RemoveGroup(objects::ObjectSet& objects, std::string_view group) {
  std::erase_if(objects.pods, [&](const objects::Pod& pod) { return GroupOf(pod) == group; });
  std::erase_if(objects.pod_groups, [&](const objects::PodGroup& one) {
    return objects::NamespacedName(one.meta) == group;
  });
}

void RemovePod(objects::ObjectSet& objects, std::string_view pod) {
  std::erase_if(objects.pods,
                [&](const objects::Pod& one) { return objects::NamespacedName(one.meta) == pod; });
}

}  // namespace strata
