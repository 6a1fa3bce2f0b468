#include "sched/plugins/queue_rules.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace strata {
namespace {

// Some tasks of a job are gated only while it waits to be let in; most jobs have none.
Amounts GatedRequests(const ClusterState& state, const Job& job, std::size_t size) {
  Amounts gated(size, 0.0);
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId id : sub_job.tasks) {
      const Task& task = state.task(id);
      if (!task.gated || task.status != TaskStatus::kPending) continue;
      const auto request = state.task_class(task.class_id).request.amounts();
      for (std::size_t i = 0; i < std::min(size, request.size()); ++i) {
        gated[i] += static_cast<double>(request[i]);
      }
    }
  }
  return gated;
}

}  // namespace

double ToleranceOf(ResourceId resource) {
  return resource == kPods ? 0.001 : 1.0;
}

Amount ToAmount(double amount) {
  constexpr double kMost = 9.2e18;
  return std::llround(std::clamp(amount, -kMost, kMost));
}

std::optional<Refusal> RefuseIfClosed(const Queue& queue) {
  if (queue.spec.open) return std::nullopt;
  return Refusal{"QueueClosed", fmt::format("queue {} is not open", queue.spec.name)};
}

std::optional<Refusal> RefuseIfClosedTo(const ClusterState& state, const Job& job) {
  const bool runs = job.counts.Allocated() >= std::max(job.spec.min_available, 1);
  return runs ? std::nullopt : RefuseIfClosed(state.queue(job.queue));
}

std::optional<ResourceId> FirstExceeded(const ResourceNames& names,
                                        const Resources& asked,
                                        const std::function<double(ResourceId)>& left) {
  std::optional<ResourceId> first;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto resource = IdAt<ResourceId>(i);
    const Amount amount = asked.Get(resource);
    if (amount <= 0 || resource == kPods) continue;
    if (static_cast<double>(amount) <= left(resource) + ToleranceOf(resource)) continue;
    if (!first || names.name(resource) < names.name(*first)) first = resource;
  }
  return first;
}

bool HoldsPromise(const Job& job) {
  if (job.phase == JobPhase::kInqueue) return true;
  return job.phase == JobPhase::kRunning && job.counts.Allocated() >= job.spec.min_available;
}

Amounts PromisedTo(const ClusterState& state, const Job& job) {
  const std::size_t size = state.resource_names().size();
  Amounts promised(size, 0.0);
  if (!job.spec.min_resources) return promised;
  bool any = false;
  for (std::size_t i = 0; i < size; ++i) {
    const auto resource = IdAt<ResourceId>(i);
    promised[i] = static_cast<double>(job.spec.min_resources->Get(resource)) -
                  static_cast<double>(job.allocated.Get(resource));
    promised[i] = std::max(promised[i], 0.0);
    any = any || promised[i] > 0;
  }
  if (!any) return promised;
  const Amounts gated = GatedRequests(state, job, size);
  for (std::size_t i = 0; i < size; ++i) promised[i] = std::max(promised[i] - gated[i], 0.0);
  return promised;
}

void AddElastic(const Job& job, Amounts& sum) {
  for (std::size_t i = 0; i < std::min(sum.size(), job.allocated.size()); ++i) {
    const auto resource = IdAt<ResourceId>(i);
    const Amount least = job.spec.min_resources ? job.spec.min_resources->Get(resource) : 0;
    sum[i] += static_cast<double>(std::max<Amount>(job.allocated.Get(resource) - least, 0));
  }
}

void AddTo(Amounts& sum, const Amounts& more) {
  for (std::size_t i = 0; i < std::min(sum.size(), more.size()); ++i) sum[i] += more[i];
}

double At(const Amounts& amounts, ResourceId resource) {
  return resource.index() < amounts.size() ? amounts[resource.index()] : 0;
}

}  // namespace strata
