#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sched/extension.h"

// The one table of plugin names. To add a plugin: its file in plugins/, its maker here.
namespace strata {

struct MadePlugin {
  std::unique_ptr<Plugin> plugin;
  std::vector<std::string> warnings;  // unknown arguments
};

// kInvalidArgument when an argument has a wrong type or value; the message names the argument.
// REQUIRES: IsPlugin(config.name).
[[nodiscard]] Result<MadePlugin> MakePlugin(const PluginConfig& config, ResourceNames& resources);

[[nodiscard]] bool IsPlugin(std::string_view name);
// Ascending.
[[nodiscard]] std::vector<std::string_view> PluginNames();
// True for a plugin of Volcano that is not supported yet.
[[nodiscard]] bool IsVolcanoPlugin(std::string_view name);

}  // namespace strata
