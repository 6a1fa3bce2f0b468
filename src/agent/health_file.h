#pragma once

#include <string>
#include <string_view>

#include "agent/gpu_health.h"

// The errors of GPUs as a file, so that an agent that is started again does not take a broken GPU
// for a good one.
namespace strata::agent {

// What ends every error of a GPU when it changes.
struct DriverLife {
  std::string boot;    // the id of this boot
  std::string driver;  // differs each time that the driver is loaded; "" if unknown

  friend bool operator==(const DriverLife&, const DriverLife&) = default;
};
// Reads both from the machine. `proc` and `sysfs` are normally "/proc" and "/sys".
[[nodiscard]] DriverLife ReadDriverLife(const std::string& proc, const std::string& sysfs);

[[nodiscard]] std::string HealthText(const DriverLife& life, const GpuHealth::Errors& errors);
// Nothing when the text is of another life of the driver, or cannot be read.
[[nodiscard]] GpuHealth::Errors ReadHealthText(std::string_view text, const DriverLife& life);

}  // namespace strata::agent
