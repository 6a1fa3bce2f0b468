#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace strata {

// A scalar of the configuration file; monostate: anything but a scalar.
using ArgumentValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

// The `arguments` of one plugin or action. A getter returns the default when the key is absent,
// reads a quoted number or bool as what it says, and fails with "<key>: want <type>, found <value>"
// on anything else.
class Arguments {
 public:
  void Set(std::string key, ArgumentValue value) {
    values_.insert_or_assign(std::move(key), std::move(value));
  }

  [[nodiscard]] Result<std::int64_t> Int(std::string_view key, std::int64_t fallback) const;
  [[nodiscard]] Result<double> Float(std::string_view key, double fallback) const;
  [[nodiscard]] Result<bool> Bool(std::string_view key, bool fallback) const;
  [[nodiscard]] Result<std::string> String(std::string_view key, std::string_view fallback) const;
  [[nodiscard]] bool Has(std::string_view key) const { return values_.contains(key); }

  // Keys that are neither in `known` nor begin with one of its entries that end in '.', ascending.
  [[nodiscard]] std::vector<std::string> Unknown(const std::vector<std::string_view>& known) const;

 private:
  std::map<std::string, ArgumentValue, std::less<>> values_;
};

// The per-plugin switches of volcano-scheduler.conf, spelt as there (some `enable...`, some
// `enabled...`).
[[nodiscard]] const std::vector<std::string_view>& KnownSwitches();

struct PluginConfig {
  std::string name;
  std::map<std::string, bool, std::less<>> switches;  // those that were written
  Arguments arguments;

  // The written value, else Volcano's default: true, but false for enableHierarchy and
  // enabledClusterOrder.
  [[nodiscard]] bool Enabled(std::string_view switch_name) const;
};

struct ActionConfig {
  std::string name;
  Arguments arguments;  // from `configurations`
};

struct SchedulerConfig {
  std::vector<ActionConfig> actions;
  std::vector<std::vector<PluginConfig>> tiers;
};

// What runs without --scheduler-conf (docs/configuration.md).
[[nodiscard]] SchedulerConfig DefaultSchedulerConfig();

}  // namespace strata
