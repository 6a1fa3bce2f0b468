#include "webhooks/gpu_pods.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/api_error.h"
#include "base/quantity.h"
#include "json/access.h"
#include "json/dump.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;

constexpr const char* kCount = "nvidia.com/gpu";
constexpr const char* kMemory = "nvidia.com/gpumem";
constexpr const char* kPercent = "nvidia.com/gpumem-percentage";
constexpr const char* kCores = "nvidia.com/gpucores";
constexpr const char* kPriority = "nvidia.com/priority";

// Annotations that begin so, or are called so, are records.
constexpr std::array<std::string_view, 2> kRecordPrefixes = {"hami.io/vgpu-", "hami.io/bind-"};
constexpr std::array<std::string_view, 6> kRecords = {"volcano.sh/vgpu-node",
                                                      "volcano.sh/vgpu-time",
                                                      "volcano.sh/vgpu-ids-new",
                                                      "volcano.sh/devices-to-allocate",
                                                      "volcano.sh/bind-phase",
                                                      "volcano.sh/bind-time"};

bool IsRecord(std::string_view key) {
  const auto begins = [key](std::string_view prefix) { return key.starts_with(prefix); };
  return std::any_of(kRecordPrefixes.begin(), kRecordPrefixes.end(), begins) ||
         std::count(kRecords.begin(), kRecords.end(), key) != 0;
}

void RemoveRecords(json& pod) {
  json* annotations = FindAt(pod, {"metadata", "annotations"});
  if (annotations == nullptr || !annotations->is_object()) return;
  for (auto it = annotations->begin(); it != annotations->end();) {
    it = IsRecord(it.key()) ? annotations->erase(it) : std::next(it);
  }
}

std::string TextOf(const json& value) {
  return value.is_string() ? value.get<std::string>() : DumpJson(value);
}

// The whole number of a limit; none when there is none, or something else.
std::optional<std::int64_t> Limit(const json& container, const char* name) {
  const json* value = FindAt(container, {"resources", "limits", name});
  if (value == nullptr) return std::nullopt;
  const auto quantity = Quantity::Parse(TextOf(*value));
  if (!quantity) return std::nullopt;  // the API server itself refuses it
  const auto whole = quantity->Value();
  return whole ? std::optional(*whole) : std::nullopt;
}

bool Has(const json& container, const char* name) {
  return FindAt(container, {"resources", "limits", name}) != nullptr;
}

void SetLimit(json& container, const char* name, const char* value) {
  ObjectIn(ObjectIn(container, "resources"), "limits")[name] = value;
}

void SetVariable(json& container, const char* name, const std::string& value) {
  json& variables = ListIn(container, "env");
  for (const json& variable : variables) {
    if (TextAt(variable, {"name"}) == name) return;  // the user's
  }
  variables.push_back({{"name", name}, {"value", value}});
}

std::optional<std::string> RefuseAmounts(const json& container) {
  const auto percent = Limit(container, kPercent);
  if (!percent || (*percent >= 0 && *percent <= 100)) return std::nullopt;
  return fmt::format("container {}: limit {}: {} is not a percentage from 0 to 100",
                     admission::Shortened(TextAt(container, {"name"}), 64),
                     kPercent,
                     *percent);
}

void Complete(json& container) {
  if (const json* priority = FindAt(container, {"resources", "limits", kPriority})) {
    SetVariable(container, "CUDA_TASK_PRIORITY", TextOf(*priority));
  }
  const bool shares = Has(container, kMemory) || Has(container, kPercent) || Has(container, kCores);
  if (!Has(container, kCount) && shares) SetLimit(container, kCount, "1");
  if (!Has(container, kCount) || Has(container, kCores)) return;
  const bool whole =
      Has(container, kPercent) ? Limit(container, kPercent) == 100 : !Has(container, kMemory);
  if (whole) SetLimit(container, kCores, "100");
}

bool IsPrivileged(const json& container) {
  return BoolAt(container, {"securityContext", "privileged"});
}

}  // namespace

GpuVerdict CompleteGpuPod(const std::vector<std::string>& scheduler_names, json& pod) {
  GpuVerdict verdict;
  RemoveRecords(pod);
  const std::string scheduler = TextAt(pod, {"spec", "schedulerName"});
  if (std::count(scheduler_names.begin(), scheduler_names.end(), scheduler) == 0) return verdict;
  bool wants_gpus = false;
  for (const char* list : {"initContainers", "containers"}) {
    json* containers = FindAt(pod, {"spec", list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (json& container : *containers) {
      if (!container.is_object()) continue;
      if (auto refusal = RefuseAmounts(container)) return {std::move(refusal), {}};
      Complete(container);
      if (!Has(container, kCount)) continue;
      wants_gpus = true;
      if (!IsPrivileged(container)) continue;
      verdict.warnings.push_back(
          fmt::format("container {} is privileged: it sees every GPU of its node, not only its own",
                      admission::Shortened(TextAt(container, {"name"}), 64)));
    }
  }
  if (wants_gpus && !TextAt(pod, {"spec", "nodeName"}).empty()) {
    verdict.refusal = fmt::format(
        "spec.nodeName: a pod with {} gets its node from scheduler {}, which also chooses the GPUs",
        kCount,
        admission::Shortened(scheduler, 64));
  }
  return verdict;
}

}  // namespace strata::webhooks
