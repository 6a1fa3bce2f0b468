#include "objects/pod_request.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace strata::objects {
namespace {

constexpr std::int64_t kDefaultMilliCpu = 100;
constexpr std::int64_t kDefaultMemory = 200LL * 1024 * 1024;

enum class Unset : std::uint8_t { kZero, kSmall };

void AddTo(ResourceList& sum, const ResourceList& more) {
  for (const auto& [name, amount] : more) sum[name] += amount;
}

void RaiseTo(ResourceList& peak, const ResourceList& other) {
  for (const auto& [name, amount] : other) {
    Quantity& mine = peak[name];
    mine = std::max(mine, amount);
  }
}

bool ResizeIsInfeasible(const PodStatus& status) {
  const Condition* pending = FindCondition(status.conditions, "PodResizePending");
  return pending != nullptr && pending->status == "True" && pending->reason == "Infeasible";
}

// What one container counts with, given what the kubelet says of it (nullptr: nothing).
ResourceList ContainerRequest(const Container& container,
                              const ContainerStatus* status,
                              bool infeasible,
                              Unset unset) {
  ResourceList request;
  const bool held = status != nullptr && !(status->allocated.empty() && status->requests.empty());
  if (!held || !infeasible) request = container.requests;
  if (held) {
    RaiseTo(request, status->allocated);
    RaiseTo(request, status->requests);
  }
  if (unset == Unset::kSmall) {
    request.try_emplace("cpu", Quantity::FromMilli(kDefaultMilliCpu));
    request.try_emplace("memory", Quantity::FromValue(kDefaultMemory));
  }
  return request;
}

const ContainerStatus* StatusOf(const Container& container,
                                const std::vector<ContainerStatus>& statuses) {
  const auto found =
      std::find_if(statuses.begin(), statuses.end(), [&](const ContainerStatus& status) {
        return status.name == container.name;
      });
  return found == statuses.end() ? nullptr : &*found;
}

bool CountsForWholePods(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

// Requests of the pod itself win over those of its containers; a limit counts only where nobody
// asks.
void ApplyPodLevel(const PodLevelResources& pod, ResourceList& request) {
  for (const auto& [name, amount] : pod.requests) {
    if (CountsForWholePods(name)) request[name] = amount;
  }
  for (const auto& [name, amount] : pod.limits) {
    if (CountsForWholePods(name)) request.try_emplace(name, amount);
  }
}

ResourceList Compute(const PodSpec& spec, const PodStatus& status, Unset unset) {
  const bool infeasible = ResizeIsInfeasible(status);
  ResourceList sum;
  for (const Container& container : spec.containers) {
    const ContainerStatus* held = StatusOf(container, status.containers);
    AddTo(sum, ContainerRequest(container, held, infeasible, unset));
  }
  ResourceList sidecars;
  ResourceList init_peak;
  for (const Container& container : spec.init_containers) {
    const ContainerStatus* held = StatusOf(container, status.init_containers);
    ResourceList request = ContainerRequest(container, held, infeasible, unset);
    if (container.sidecar) {
      AddTo(sum, request);
      AddTo(sidecars, request);
      RaiseTo(init_peak, sidecars);
    } else {
      AddTo(request, sidecars);
      RaiseTo(init_peak, request);
    }
  }
  RaiseTo(sum, init_peak);
  if (spec.resources) ApplyPodLevel(*spec.resources, sum);
  AddTo(sum, spec.overhead);
  return sum;
}

}  // namespace

ResourceList PodRequest(const Pod& pod) {
  return Compute(pod.spec, pod.status, Unset::kZero);
}

ResourceList PodRequest(const PodSpec& spec) {
  return Compute(spec, PodStatus{}, Unset::kZero);
}

ResourceList NonZeroPodRequest(const Pod& pod) {
  ResourceList request = Compute(pod.spec, pod.status, Unset::kSmall);
  std::erase_if(request,
                [](const auto& entry) { return entry.first != "cpu" && entry.first != "memory"; });
  return request;
}

}  // namespace strata::objects
