#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "agent/gpu_watch.h"
#include "agent/machine.h"
#include "obs/metric_families.h"

namespace strata::agent {

// What the agent counts, for its page /metrics. A value.
class AgentMetrics {
 public:
  void Take(const MachineView& machine, bool driver_answers) {
    machine_ = machine;
    driver_answers_ = driver_answers;
  }
  void Count(const GpuWatch::Turned& turned);
  void CountPublication(bool written) { ++(written ? written_ : failed_); }

  [[nodiscard]] obs::Families Families() const;

 private:
  MachineView machine_;
  bool driver_answers_ = false;
  std::map<std::uint64_t, std::uint64_t> xids_;
  std::map<std::string, std::uint64_t> failures_;  // by UUID: times that it became unhealthy
  std::uint64_t written_ = 0;
  std::uint64_t failed_ = 0;
};

}  // namespace strata::agent
