#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "objects/policy.h"

namespace strata::objects {

// Priorities by class name, as the API server's admission gives them to pods. Knows the two classes
// every cluster has (system-cluster-critical, system-node-critical).
class PriorityTable {
 public:
  explicit PriorityTable(const std::vector<PriorityClass>& classes);

  // None for a class that does not exist. "" is the global default.
  [[nodiscard]] std::optional<std::int32_t> ValueOf(std::string_view class_name) const;
  // True when the class exists and its preemptionPolicy is Never. "" is the global default.
  [[nodiscard]] bool NeverPreempts(std::string_view class_name) const {
    return never_.contains(class_name);
  }
  // That of the globalDefault class (the lowest of several, as in Kubernetes), else 0.
  [[nodiscard]] std::int32_t global_default() const { return global_default_; }

 private:
  std::map<std::string, std::int32_t, std::less<>> values_;
  std::set<std::string, std::less<>> never_;
  std::int32_t global_default_ = 0;
};

}  // namespace strata::objects
