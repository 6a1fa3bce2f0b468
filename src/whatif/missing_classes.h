#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "objects/priority.h"
#include "whatif/cluster.h"

namespace strata {

// A line for each PriorityClass that pods name which no server has accepted yet, and that is
// neither given nor in every cluster. Pure.
[[nodiscard]] inline std::vector<std::string> MissingPriorityClasses(
    const CompletedObjects& completed) {
  struct Refused {
    std::string first;
    std::size_t more = 0;
  };
  const objects::PriorityTable classes(completed.objects.priority_classes);
  std::map<std::string, Refused> by_name;
  for (const objects::Pod& pod : completed.objects.pods) {
    const bool accepted = pod.spec.priority.has_value() || !pod.spec.node_name.empty();
    if (accepted || classes.ValueOf(pod.spec.priority_class_name)) continue;
    const auto [known, is_new] =
        by_name.try_emplace(pod.spec.priority_class_name, Refused{objects::Location(pod.meta)});
    if (!is_new) ++known->second.more;
  }
  std::vector<std::string> lines;
  lines.reserve(by_name.size());
  for (const auto& [name, refused] : by_name) {
    lines.push_back(
        fmt::format("{}: PriorityClass \"{}\" is not in the input; a cluster without it refuses to "
                    "create the pod{}",
                    refused.first,
                    name,
                    refused.more == 0 ? "" : fmt::format(" (and {} more pods)", refused.more)));
  }
  return lines;
}

}  // namespace strata
