#include "sched/plugins/argument_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "sched/score.h"

namespace strata {

Result<std::int64_t> WeightArgument(const Arguments& arguments,
                                    std::string_view key,
                                    std::int64_t fallback,
                                    IfNegative if_negative) {
  TRY_ASSIGN(const std::int64_t weight, arguments.Int(key, fallback));
  if (weight > kMaxWeight) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: want a weight of at most {}, found {}", key, kMaxWeight, weight));
  }
  if (weight < -kMaxWeight && if_negative == IfNegative::kKeep) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{}: want a weight of at least {}, found {}", key, -kMaxWeight, weight));
  }
  return weight < 0 && if_negative == IfNegative::kUseDefault ? fallback : weight;
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t first = name.find_first_not_of(" \t");
    if (first == std::string_view::npos) continue;
    name = name.substr(first, name.find_last_not_of(" \t") - first + 1);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> WarnOfUnknown(const PluginConfig& config,
                                       const std::vector<std::string_view>& known) {
  std::vector<std::string> warnings;
  for (const std::string& key : config.arguments.Unknown(known)) {
    warnings.push_back(ArgumentWarning(config.name, key, "unknown argument, ignored"));
  }
  return warnings;
}

std::string ArgumentWarning(std::string_view plugin,
                            std::string_view argument,
                            std::string_view what) {
  return fmt::format("{}: {}: {}", plugin, argument, what);
}

}  // namespace strata
