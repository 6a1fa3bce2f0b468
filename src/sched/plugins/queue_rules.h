#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "model/cluster_state.h"
#include "sched/extension.h"
#include "sched/plugins/queue_shares.h"

// What plugins that let jobs into queues have in common.
namespace strata {

// Sums of a queue are compared with its limits up to one unit; pods are counted in whole ones, of
// which a thousandth is allowed.
[[nodiscard]] double ToleranceOf(ResourceId resource);

// The nearest whole amount, for sentences.
[[nodiscard]] Amount ToAmount(double amount);

// QueueClosed, when the state of the queue is not Open.
[[nodiscard]] std::optional<Refusal> RefuseIfClosed(const Queue& queue);

// The same for a job that wants to enter its queue. One whose minimum already runs is in.
// REQUIRES: the queue exists.
[[nodiscard]] std::optional<Refusal> RefuseIfClosedTo(const ClusterState& state, const Job& job);

// The first by name of the resources of which `asked` is more than `left` says; pods are free.
[[nodiscard]] std::optional<ResourceId> FirstExceeded(
    const ResourceNames& names,
    const Resources& asked,
    const std::function<double(ResourceId)>& left);

// True when the job was let in, so that what it has been promised counts: it is Inqueue, or Running
// with its minimum.
[[nodiscard]] bool HoldsPromise(const Job& job);

// What the job has been promised and does not have: (minResources - allocated) at least 0, less
// what its gated pods ask for. One amount for each resource there is.
[[nodiscard]] Amounts PromisedTo(const ClusterState& state, const Job& job);

// What the job has beyond its minResources, added to `sum`.
void AddElastic(const Job& job, Amounts& sum);

void AddTo(Amounts& sum, const Amounts& more);
[[nodiscard]] double At(const Amounts& amounts, ResourceId resource);

}  // namespace strata
