#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "explain/advice_commands.h"
#include "model/constraints.h"
#include "objects/pod.h"

// The changes of whatif/changes.h to one pod as steps of a JSON patch, below the spec of a pod or
// of a template. None where the spec does not have what is to be taken away.
namespace strata {

inline constexpr std::string_view kSpreadPath = "/topologySpreadConstraints";
inline constexpr std::string_view kAffinityPath =
    "/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution";
inline constexpr std::string_view kAntiAffinityPath =
    "/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution";

[[nodiscard]] std::vector<PatchStep> ToleratingSteps(const Taint& taint,
                                                     const objects::PodSpec& spec);
[[nodiscard]] std::vector<PatchStep> WithoutSelectorSteps(std::string_view key,
                                                          const objects::PodSpec& spec);
[[nodiscard]] std::vector<PatchStep> WithoutRequirementSteps(const Requirement& requirement,
                                                             const objects::PodSpec& spec);

// Takes every `entry` out of the list at `path`, the last one first, so that indexes hold.
template <typename Entry>
[[nodiscard]] std::vector<PatchStep> WithoutEntrySteps(std::string_view path,
                                                       const Entry& entry,
                                                       const std::vector<Entry>& list) {
  std::vector<PatchStep> steps;
  for (std::size_t i = list.size(); i-- > 0;) {
    if (list[i] == entry) {
      steps.push_back({PatchStep::Op::kRemove, fmt::format("{}/{}", path, i), ""});
    }
  }
  return steps;
}

}  // namespace strata
