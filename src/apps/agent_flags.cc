#include "apps/agent_flags.h"

#include <cstddef>

#include <fmt/format.h>

namespace strata {

std::string ParseProbeFlags(std::span<const std::string_view> arguments, ProbeFlags& flags) {
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    std::string* value = nullptr;
    if (name == "-o" || name == "--output") value = &flags.output;
    if (name == "--nvml") value = &flags.nvml;
    if (name == "--sysfs") value = &flags.sysfs;
    if (value == nullptr) return fmt::format("unknown flag \"{}\"", name);
    if (i + 1 == arguments.size()) return fmt::format("flag {} requires a value", name);
    *value = std::string(arguments[i + 1]);
  }
  if (flags.output == "json" || flags.output == "table") return "";
  return fmt::format("unknown format \"{}\" (want json or table)", flags.output);
}

}  // namespace strata
