#pragma once

#include <span>
#include <string>
#include <string_view>

namespace strata {

// The flags of `strata-agent probe`.
struct ProbeFlags {
  std::string output = "table";  // or "json"
  std::string nvml;              // "" for the driver's
  std::string sysfs = "/sys";
};

// Reads the arguments that follow "probe" into `flags`. Returns what is wrong with them, "" if
// nothing is.
[[nodiscard]] std::string ParseProbeFlags(std::span<const std::string_view> arguments,
                                          ProbeFlags& flags);

}  // namespace strata
