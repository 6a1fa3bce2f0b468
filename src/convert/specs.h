#pragma once

#include <string>

#include "base/result.h"
#include "model/cluster_state.h"
#include "objects/node.h"
#include "objects/pod.h"
#include "objects/pod_group.h"
#include "objects/policy.h"
#include "objects/priority.h"
#include "objects/queue.h"

// One Kubernetes object as the core sees it. Pure apart from `names`, which learns the resources.
// Errors name the field, not the object: the caller knows how to name that.
namespace strata {

// A node whose Ready condition is False or Unknown carries the taint the node controller would give
// it; one without the label kubernetes.io/hostname has its name there, as a kubelet without
// settings sees to. A node that says nothing about `pods` takes 110, as a kubelet without settings
// does.
[[nodiscard]] Result<NodeSpec> ToNodeSpec(const objects::Node& node, ResourceNames& names);

[[nodiscard]] Result<QueueSpec> ToQueueSpec(const objects::Queue& queue, ResourceNames& names);

[[nodiscard]] BudgetSpec ToBudgetSpec(const objects::PodDisruptionBudget& budget);

// `requests.cpu` counts as `cpu`; of limits and counts of objects those that pods have
// (IsQuotaName).
[[nodiscard]] Result<QuotaSpec> ToQuotaSpec(const objects::ResourceQuota& quota,
                                            ResourceNames& names);

// Priority from its class, else from the global default class, else 0. An empty queue is "default".
// A waiting time (annotation sla-waiting-time, else volcano.sh/sla-waiting-time) that is no
// duration above 0 is an error, and so are rules about its roles (ToRoleAffinity) that make no
// sense.
[[nodiscard]] Result<JobSpec> ToJobSpec(const objects::PodGroup& group,
                                        const objects::PriorityTable& priorities,
                                        ResourceNames& names);

// How far the pod is, by its phase, node and deletionTimestamp. A terminating pod that never got a
// node is kReleasing too; it holds nothing.
[[nodiscard]] TaskStatus StatusOf(const objects::Pod& pod);

// Without job and sub-group, which depend on the PodGroup. Priority: annotation
// volcano.sh/task-priority, else spec.priority, else that of its class, else 1.
[[nodiscard]] Result<TaskSpec> ToTaskSpec(const objects::Pod& pod,
                                          const objects::PriorityTable& priorities,
                                          ResourceNames& names);

// "namespace/podgroup" by annotation scheduling.k8s.io/group-name, else scheduling.volcano.sh/
// group-name; "" when the pod names none.
[[nodiscard]] std::string GroupOf(const objects::Pod& pod);

}  // namespace strata
