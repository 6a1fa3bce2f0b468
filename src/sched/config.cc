#include "sched/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "sched/gang_search.h"

namespace strata {
namespace {

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

std::optional<bool> ParseBool(std::string_view text) {
  for (const std::string_view yes : {"true", "True", "TRUE", "t", "T", "1"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"false", "False", "FALSE", "f", "F", "0"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

std::string Describe(const ArgumentValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) return "no scalar";
        if constexpr (std::is_same_v<Held, bool>) return held ? "true" : "false";
        if constexpr (std::is_arithmetic_v<Held>) return fmt::format("{}", held);
        if constexpr (std::is_same_v<Held, std::string>) return fmt::format("\"{}\"", held);
        return "";
      },
      value);
}

tl::unexpected<Error> WrongType(std::string_view key,
                                std::string_view wanted,
                                const ArgumentValue& found) {
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: want {}, found {}", key, wanted, Describe(found)));
}

// None for YAML's .nan and .inf.
std::optional<double> Finite(double number) {
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

PluginConfig PluginNamed(std::string name) {
  return PluginConfig{.name = std::move(name), .switches = {}, .arguments = {}};
}

PluginConfig PluginWith(std::string name, std::string key, ArgumentValue value) {
  PluginConfig plugin = PluginNamed(std::move(name));
  plugin.arguments.Set(std::move(key), std::move(value));
  return plugin;
}

}  // namespace

Result<std::int64_t> Arguments::Int(std::string_view key, std::int64_t fallback) const {
  const auto it = values_.find(key);
  if (it == values_.end()) return fallback;
  if (const auto* number = std::get_if<std::int64_t>(&it->second)) return *number;
  if (const auto* text = std::get_if<std::string>(&it->second)) {
    if (const auto number = ParseNumber<std::int64_t>(*text)) return *number;
  }
  return WrongType(key, "an integer", it->second);
}

Result<double> Arguments::Float(std::string_view key, double fallback) const {
  const auto it = values_.find(key);
  if (it == values_.end()) return fallback;
  std::optional<double> number;
  if (const auto* whole = std::get_if<std::int64_t>(&it->second)) {
    number = static_cast<double>(*whole);
  } else if (const auto* real = std::get_if<double>(&it->second)) {
    number = Finite(*real);
  } else if (const auto* text = std::get_if<std::string>(&it->second)) {
    number = ParseNumber<double>(*text);
    if (number) number = Finite(*number);
  }
  if (number) return *number;
  return WrongType(key, "a number", it->second);
}

Result<bool> Arguments::Bool(std::string_view key, bool fallback) const {
  const auto it = values_.find(key);
  if (it == values_.end()) return fallback;
  if (const auto* flag = std::get_if<bool>(&it->second)) return *flag;
  if (const auto* text = std::get_if<std::string>(&it->second)) {
    if (const auto flag = ParseBool(*text)) return *flag;
  }
  return WrongType(key, "true or false", it->second);
}

Result<std::string> Arguments::String(std::string_view key, std::string_view fallback) const {
  const auto it = values_.find(key);
  if (it == values_.end()) return std::string(fallback);
  if (const auto* text = std::get_if<std::string>(&it->second)) return *text;
  return WrongType(key, "a string", it->second);
}

std::vector<std::string> Arguments::Unknown(const std::vector<std::string_view>& known) const {
  std::vector<std::string> unknown;
  for (const auto& [key, value] : values_) {
    const std::string_view name = key;
    const bool is_known = std::any_of(known.begin(), known.end(), [&](std::string_view entry) {
      return name == entry || (entry.ends_with('.') && name.starts_with(entry));
    });
    if (!is_known) unknown.push_back(key);
  }
  return unknown;
}

const std::vector<std::string_view>& KnownSwitches() {
  static const std::vector<std::string_view> switches = {
      "enableJobOrder",           "enableHierarchy",        "enableJobReady",
      "enableJobPipelined",       "enableTaskOrder",        "enablePreemptable",
      "enableReclaimable",        "enablePreemptive",       "enableQueueOrder",
      "enabledClusterOrder",      "enablePredicate",        "enableBestNode",
      "enableNodeOrder",          "enableTargetJob",        "enableReservedNodes",
      "enableJobEnqueued",        "enabledVictim",          "enableJobStarving",
      "enabledOverused",          "enabledAllocatable",     "enabledHyperNodeOrder",
      "enabledSubJobReady",       "enabledSubJobPipelined", "enabledSubJobOrder",
      "enabledHyperNodeGradient",
  };
  return switches;
}

bool PluginConfig::Enabled(std::string_view switch_name) const {
  const auto it = switches.find(switch_name);
  if (it != switches.end()) return it->second;
  return switch_name != "enableHierarchy" && switch_name != "enabledClusterOrder";
}

SchedulerConfig DefaultSchedulerConfig() {
  SchedulerConfig config;
  for (const char* action : {"enqueue", "allocate", "backfill"}) {
    config.actions.push_back(ActionConfig{.name = action, .arguments = {}});
  }
  config.tiers.resize(2);
  for (const char* name : {"priority", "gang", "conformance"}) {
    config.tiers[0].push_back(PluginNamed(name));
  }
  for (const char* name : {"predicates", "proportion", "nodeorder"}) {
    config.tiers[1].push_back(PluginNamed(name));
  }
  // GPUs are what training clusters run short of; Volcano packs them only when told to.
  config.tiers[1].push_back(PluginWith("binpack", "binpack.resources", "nvidia.com/gpu"));
  PluginConfig topology =
      PluginWith("network-topology-aware", "hypernode.binpack.resources", "nvidia.com/gpu");
  topology.arguments.Set(kSecondMaxSteps, kDefaultSecondMaxSteps);
  topology.arguments.Set(kFewLeaves, true);
  topology.arguments.Set(kRankOrder, true);
  config.tiers[1].push_back(std::move(topology));
  config.tiers[1].push_back(PluginNamed("deviceshare"));
  return config;
}

}  // namespace strata
