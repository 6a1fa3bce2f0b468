#include "objects/pod_request.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/resources.h"

namespace strata::objects {
namespace {

constexpr std::int64_t kDefaultMilliCpu = 100;
constexpr std::int64_t kDefaultMemory = 200LL * 1024 * 1024;
constexpr std::int64_t kMaxHeld = std::int64_t{1} << 56U;

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

// The larger of the sum of all containers and the peak of the init containers; `amounts_of` says
// what one container counts with, given all statuses of its kind.
template <typename AmountsOf>
ResourceList SumOf(const PodSpec& spec, const PodStatus& status, const AmountsOf& amounts_of) {
  ResourceList sum;
  for (const Container& container : spec.containers) {
    AddTo(sum, amounts_of(container, status.containers));
  }
  ResourceList sidecars;
  ResourceList init_peak;
  for (const Container& container : spec.init_containers) {
    ResourceList amounts = amounts_of(container, status.init_containers);
    if (container.sidecar) {
      AddTo(sum, amounts);
      AddTo(sidecars, amounts);
      RaiseTo(init_peak, sidecars);
    } else {
      AddTo(amounts, sidecars);
      RaiseTo(init_peak, amounts);
    }
  }
  RaiseTo(sum, init_peak);
  return sum;
}

ResourceList LimitsOf(const PodSpec& spec) {
  ResourceList limits =
      SumOf(spec, {}, [](const Container& container, const std::vector<ContainerStatus>&) {
        return container.limits;
      });
  if (spec.resources) {
    for (const auto& [name, amount] : spec.resources->limits) {
      if (CountsForWholePods(name)) limits[name] = amount;
    }
  }
  for (const auto& [name, amount] : spec.overhead) {
    if (const auto limit = limits.find(name); limit != limits.end()) limit->second += amount;
  }
  return limits;
}

ResourceList Compute(const PodSpec& spec, const PodStatus& status, Unset unset) {
  const bool infeasible = ResizeIsInfeasible(status);
  ResourceList sum = SumOf(
      spec, status, [&](const Container& container, const std::vector<ContainerStatus>& statuses) {
        return ContainerRequest(container, StatusOf(container, statuses), infeasible, unset);
      });
  if (spec.resources) ApplyPodLevel(*spec.resources, sum);
  AddTo(sum, spec.overhead);
  return sum;
}

ResourceList Counted(const Pod& pod, Unset unset) {
  ResourceList request = Compute(pod.spec, pod.status, unset);
  if (pod.spec.node_name.empty()) return request;
  for (auto& [name, amount] : request) {
    const bool thousandths = UnitOf(name) == ResourceUnit::kMilli;
    amount = std::min(amount,
                      thousandths ? Quantity::FromMilli(kMaxHeld) : Quantity::FromValue(kMaxHeld));
  }
  return request;
}

ResourceList UsageOf(ResourceList request, const PodSpec& spec) {
  ResourceList usage;
  for (const auto& [name, amount] : request) usage["requests." + name] = amount;
  const ResourceList limits = LimitsOf(spec);
  for (const std::string_view name : {"cpu", "memory", "ephemeral-storage"}) {
    const auto limit = limits.find(name);
    if (limit != limits.end()) usage["limits." + limit->first] = limit->second;
  }
  usage["pods"] = usage["count/pods"] = Quantity::FromValue(1);
  usage.merge(request);
  return usage;
}

}  // namespace

ResourceList PodRequest(const Pod& pod) {
  return Counted(pod, Unset::kZero);
}

ResourceList PodRequest(const PodSpec& spec) {
  return Compute(spec, PodStatus{}, Unset::kZero);
}

ResourceList QuotaUsage(const Pod& pod) {
  return UsageOf(PodRequest(pod), pod.spec);
}

ResourceList QuotaUsage(const PodSpec& spec) {
  return UsageOf(PodRequest(spec), spec);
}

ResourceList NonZeroPodRequest(const Pod& pod) {
  ResourceList request = Counted(pod, Unset::kSmall);
  std::erase_if(request,
                [](const auto& entry) { return entry.first != "cpu" && entry.first != "memory"; });
  return request;
}

}  // namespace strata::objects
