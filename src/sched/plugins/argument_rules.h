#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sched/config.h"

// What several plugins do with their arguments.
namespace strata {

enum class IfNegative : std::uint8_t { kUseDefault, kKeep };

// An integer of at most kMaxWeight either way; the error names the argument.
[[nodiscard]] Result<std::int64_t> WeightArgument(const Arguments& arguments,
                                                  std::string_view key,
                                                  std::int64_t fallback,
                                                  IfNegative if_negative);

// The names of a comma-separated list, trimmed, in the order written, each once.
[[nodiscard]] std::vector<std::string> SplitList(std::string_view text);

// One warning for each argument that is not in `known` (see Arguments::Unknown).
[[nodiscard]] std::vector<std::string> WarnOfUnknown(const PluginConfig& config,
                                                     const std::vector<std::string_view>& known);

// "<plugin>: <argument>: <what>", the shape of every warning about an argument.
[[nodiscard]] std::string ArgumentWarning(std::string_view plugin,
                                          std::string_view argument,
                                          std::string_view what);

}  // namespace strata
