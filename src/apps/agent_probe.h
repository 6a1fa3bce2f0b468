#pragma once

#include <span>
#include <string_view>

namespace strata {

// What `strata-agent probe` tells about itself.
inline constexpr const char* kProbeUsage =
    "usage: strata-agent probe [-o json|table] [--nvml FILE] [--sysfs DIR]\n"
    "\n"
    "Reads the NVIDIA GPUs of this machine through the driver's NVML and prints devices, links,\n"
    "scores, and the two annotations that HAMi expects on the Node.\n"
    "\n"
    "  -o, --output json|table   output format (default: table)\n"
    "  --nvml FILE               the library to load (default: libnvidia-ml.so.1)\n"
    "  --sysfs DIR               where to read NUMA nodes (default: /sys)\n";

// Carries out `strata-agent probe`; `arguments` are those behind that word. Returns the exit
// status.
int RunProbe(std::span<const std::string_view> arguments);

}  // namespace strata
