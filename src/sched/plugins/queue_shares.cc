#include "sched/plugins/queue_shares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace strata {
namespace {

bool IsEmpty(const Amounts& amounts) {
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (i != kPods.index() && amounts[i] >= kNothing) return false;
  }
  return true;
}

bool IsMet(const QueueShare& queue) {
  for (std::size_t i = 0; i < queue.request.size(); ++i) {
    if (queue.request[i] - queue.deserved[i] >= kNothing) return false;
  }
  return true;
}

// What the queue deserves after getting `part` of what remains.
Amounts WithPartOf(const QueueShare& queue, const Amounts& remaining, double part) {
  Amounts deserved = queue.deserved;
  for (std::size_t i = 0; i < deserved.size(); ++i) {
    deserved[i] += remaining[i] * part;
    deserved[i] = std::min(deserved[i], queue.real_capability[i]);
    deserved[i] = std::min(deserved[i], queue.request[i]);
    deserved[i] = std::max(deserved[i], queue.guarantee[i]);
  }
  return deserved;
}

void LimitTo(const ResourceLimits& capability, Amounts& amounts) {
  for (const auto& [resource, limit] : capability) {
    if ((resource == kCpu || resource == kMemory) && limit <= 0) continue;
    if (resource.index() >= amounts.size()) continue;
    amounts[resource.index()] = std::min(amounts[resource.index()], static_cast<double>(limit));
  }
}

// What the guarantees of all queues, with jobs or without, leave for everybody.
Amounts LessGuarantees(const ClusterState& state, Amounts total) {
  for (const QueueId id : state.workload().queues()) {
    const Resources& guarantee = state.workload().queue(id).spec.guarantee;
    for (std::size_t i = 0; i < total.size(); ++i) {
      total[i] -= static_cast<double>(guarantee.Get(IdAt<ResourceId>(i)));
    }
  }
  for (double& amount : total) amount = std::max(amount, 0.0);
  return total;
}

QueueShare Claim(const ClusterState& state, QueueId id, const Amounts& unguaranteed) {
  const Queue& queue = state.workload().queue(id);
  const std::size_t size = unguaranteed.size();
  QueueShare share{.queue = id,
                   .weight = queue.spec.weight,
                   .request = ToAmounts(queue.allocated.amounts(), size),
                   .guarantee = ToAmounts(queue.spec.guarantee.amounts(), size),
                   .real_capability = unguaranteed,
                   .deserved = Amounts(size, 0.0),
                   .share = 0};
  for (std::size_t i = 0; i < size; ++i) {
    share.request[i] += queue.pending.Get(IdAt<ResourceId>(i));
    share.real_capability[i] += share.guarantee[i];
  }
  LimitTo(queue.spec.capability, share.real_capability);
  return share;
}

}  // namespace

Amounts ToAmounts(std::span<const Amount> amounts, std::size_t size) {
  Amounts result(size, 0.0);
  for (std::size_t i = 0; i < std::min(size, amounts.size()); ++i) {
    result[i] = static_cast<double>(amounts[i]);
  }
  return result;
}

void ShareOut(Amounts total, std::span<QueueShare> queues) {
  Amounts& remaining = total;
  std::vector<QueueShare*> unmet;
  for (QueueShare& queue : queues) unmet.push_back(&queue);
  while (true) {
    double weight = 0;
    for (const QueueShare* queue : unmet) weight += queue->weight;
    if (weight <= 0) return;
    const Amounts before = remaining;
    Amounts increased(remaining.size(), 0.0);
    Amounts decreased(remaining.size(), 0.0);
    std::vector<QueueShare*> still_unmet;
    for (QueueShare* queue : unmet) {
      Amounts deserved = WithPartOf(*queue, before, queue->weight / weight);
      for (std::size_t i = 0; i < deserved.size(); ++i) {
        const double change = deserved[i] - queue->deserved[i];
        (change > 0 ? increased : decreased)[i] += std::abs(change);
      }
      std::swap(queue->deserved, deserved);
      if (!IsMet(*queue) && queue->deserved != deserved) still_unmet.push_back(queue);
    }
    for (std::size_t i = 0; i < remaining.size(); ++i) {
      remaining[i] = std::max(before[i] + decreased[i] - increased[i], 0.0);
    }
    if (IsEmpty(remaining) || remaining == before) return;
    unmet = std::move(still_unmet);
  }
}

std::vector<QueueShare> ComputeProportion(const ClusterState& state) {
  const std::size_t size = state.resource_names().size();
  const Amounts total = ToAmounts(state.sums().Allocatable(state.tree().top()), size);
  const Amounts unguaranteed = LessGuarantees(state, total);
  std::vector<QueueShare> queues;
  for (const QueueId id : state.workload().queues()) {
    if (state.workload().queue(id).jobs > 0) queues.push_back(Claim(state, id, unguaranteed));
  }
  ShareOut(total, queues);
  for (QueueShare& queue : queues) {
    queue.share = ShareOf(state.workload().queue(queue.queue).allocated, queue.deserved);
  }
  return queues;
}

double ShareOf(const Resources& allocated, const Amounts& deserved) {
  double share = 0;
  for (std::size_t i = 0; i < deserved.size(); ++i) {
    const auto has = static_cast<double>(allocated.Get(IdAt<ResourceId>(i)));
    if (has <= 0) continue;
    share = std::max(share, deserved[i] > 0 ? has / deserved[i] : 1.0);
  }
  return share;
}

}  // namespace strata
