#include <utility>

#include "model/cluster_state.h"

namespace strata {

void ClusterState::UpsertQuota(QuotaSpec spec) {
  std::string name = spec.name;
  quotas_.insert_or_assign(std::move(name), std::move(spec));
}

void ClusterState::RemoveQuota(std::string_view name) {
  if (const auto it = quotas_.find(name); it != quotas_.end()) quotas_.erase(it);
}

std::vector<const QuotaSpec*> ClusterState::QuotasOf(std::string_view name_space) const {
  const std::string prefix = std::string(name_space) + "/";
  std::vector<const QuotaSpec*> quotas;
  for (auto it = quotas_.lower_bound(prefix); it != quotas_.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    quotas.push_back(&it->second);
  }
  return quotas;
}

void ClusterState::ChargeQuotas(std::string_view name_space, const Resources& amount) {
  const std::string prefix = std::string(name_space) + "/";
  for (auto it = quotas_.lower_bound(prefix); it != quotas_.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    it->second.used.Add(amount);
  }
}

}  // namespace strata
