#include "objects/priority.h"

#include <optional>
#include <string_view>
#include <vector>

namespace strata::objects {

PriorityTable::PriorityTable(const std::vector<PriorityClass>& classes)
    : values_{{"system-cluster-critical", 2'000'000'000}, {"system-node-critical", 2'000'001'000}} {
  const PriorityClass* lowest = nullptr;  // of the global defaults
  for (const PriorityClass& priority_class : classes) {
    values_[priority_class.meta.name] = priority_class.value;
    if (priority_class.preemption_policy == PreemptionPolicy::kNever) {
      never_.insert(priority_class.meta.name);
    }
    if (!priority_class.global_default) continue;
    if (lowest == nullptr || priority_class.value < lowest->value) lowest = &priority_class;
  }
  if (lowest == nullptr) return;
  global_default_ = lowest->value;
  if (lowest->preemption_policy == PreemptionPolicy::kNever) never_.insert("");
}

std::optional<std::int32_t> PriorityTable::ValueOf(std::string_view class_name) const {
  if (class_name.empty()) return global_default_;
  const auto found = values_.find(class_name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace strata::objects
