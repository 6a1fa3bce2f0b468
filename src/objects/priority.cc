#include "objects/priority.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace strata::objects {

PriorityTable::PriorityTable(const std::vector<PriorityClass>& classes)
    : values_{{"system-cluster-critical", 2'000'000'000}, {"system-node-critical", 2'000'001'000}} {
  std::optional<std::int32_t> lowest;
  for (const PriorityClass& priority_class : classes) {
    values_[priority_class.meta.name] = priority_class.value;
    if (!priority_class.global_default) continue;
    lowest = std::min(lowest.value_or(priority_class.value), priority_class.value);
  }
  global_default_ = lowest.value_or(0);
}

std::optional<std::int32_t> PriorityTable::ValueOf(std::string_view class_name) const {
  if (class_name.empty()) return global_default_;
  const auto found = values_.find(class_name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace strata::objects
