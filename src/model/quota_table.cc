#include "model/quota_table.h"

#include <utility>

namespace strata {

void QuotaTable::Upsert(QuotaSpec spec) {
  ++version_;
  std::string name = spec.name;
  quotas_.insert_or_assign(std::move(name), std::move(spec));
}

void QuotaTable::Remove(std::string_view name) {
  ++version_;
  if (const auto it = quotas_.find(name); it != quotas_.end()) quotas_.erase(it);
}

std::vector<const QuotaSpec*> QuotaTable::Of(std::string_view ns) const {
  const std::string prefix = std::string(ns) + "/";
  std::vector<const QuotaSpec*> quotas;
  for (auto it = quotas_.lower_bound(prefix); it != quotas_.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    quotas.push_back(&it->second);
  }
  return quotas;
}

void QuotaTable::Charge(std::string_view ns, const Resources& amount) {
  ++version_;
  const std::string prefix = std::string(ns) + "/";
  for (auto it = quotas_.lower_bound(prefix); it != quotas_.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    it->second.used.AddSaturating(amount);
  }
}

}  // namespace strata
