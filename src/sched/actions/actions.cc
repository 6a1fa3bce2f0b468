#include "sched/actions/actions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace strata {
namespace {

constexpr std::array<std::pair<std::string_view, Action>, 7> kActions = {{
    {"allocate", &Allocate},
    {"backfill", &Backfill},
    {"enqueue", &Enqueue},
    {"gangpreempt", &GangPreempt},
    {"gangreclaim", &GangReclaim},
    {"preempt", &Preempt},
    {"reclaim", &Reclaim},
}};

constexpr std::array<std::string_view, 1> kVolcanoOnly = {"shuffle"};

}  // namespace

Action FindAction(std::string_view name) {
  const auto it = std::find_if(
      kActions.begin(), kActions.end(), [&](const auto& entry) { return entry.first == name; });
  return it == kActions.end() ? nullptr : it->second;
}

std::vector<std::string_view> ActionNames() {
  std::vector<std::string_view> names;
  names.reserve(kActions.size());
  for (const auto& [name, action] : kActions) names.push_back(name);
  return names;
}

bool IsVolcanoAction(std::string_view name) {
  return std::find(kVolcanoOnly.begin(), kVolcanoOnly.end(), name) != kVolcanoOnly.end();
}

}  // namespace strata
