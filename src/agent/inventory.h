#pragma once

#include <map>
#include <string>
#include <utility>

#include "agent/gpu_health.h"
#include "agent/machine.h"
#include "nvml/probe.h"

namespace strata::agent {

// The GPUs of the machine, also those that have gone since the agent started: a GPU that falls off
// the bus must not look as if the machine never had it. A value.
class Inventory {
 public:
  void Take(const nvml::ProbeReport& report);
  // `shares` is how many containers may have a GPU together.
  [[nodiscard]] Machine MachineNow(const GpuHealth& health, std::int32_t shares) const;

 private:
  std::map<std::string, nvml::ProbedGpu> gpus_;                   // by UUID
  std::map<std::pair<std::string, std::string>, GpuLink> links_;  // from, to
  std::string driver_;
};

}  // namespace strata::agent
