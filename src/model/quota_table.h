#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/resources.h"
#include "model/workload.h"

namespace strata {

// The ResourceQuotas of all namespaces.
//
// Contract: `used` of a quota is what its last Upsert said, plus what was charged since. No other
// room depends on it. Pointers are valid until the quota is replaced or removed.
class QuotaTable {
 public:
  void Upsert(QuotaSpec spec);
  void Remove(std::string_view name);  // "namespace/quota"; nothing happens when there is none
  // Raises what every quota of the namespace counts as used.
  void Charge(std::string_view ns, const Resources& amount);
  // Moves with every change.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  // All of them, by name.
  [[nodiscard]] const std::map<std::string, QuotaSpec, std::less<>>& all() const { return quotas_; }
  // The quotas of a namespace, ascending by name.
  [[nodiscard]] std::vector<const QuotaSpec*> Of(std::string_view ns) const;

 private:
  std::map<std::string, QuotaSpec, std::less<>> quotas_;
  std::uint64_t version_ = 1;
};

}  // namespace strata
