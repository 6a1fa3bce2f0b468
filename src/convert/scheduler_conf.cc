#include "convert/scheduler_conf.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "objects/conf_file.h"
#include "objects/cursor.h"
#include "objects/text_check.h"
#include "objects/value.h"
#include "sched/actions/actions.h"
#include "sched/registry.h"
#include "sched/scheduler.h"

namespace strata {
namespace {

using objects::Cursor;
using objects::Value;

constexpr std::string_view kConfigMapKey = "volcano-scheduler.conf";
template <typename Range>
bool Has(const Range& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

template <typename Range>
std::string Unknown(std::string_view what, std::string_view name, const Range& known) {
  return fmt::format("unknown {} \"{}\" (known: {})", what, name, fmt::join(known, ", "));
}

ArgumentValue ToArgument(const Value& value) {
  switch (value.type()) {
    case Value::Type::kBool:
      return value.AsBool();
    case Value::Type::kInteger:
      return value.AsInteger();
    case Value::Type::kNumber:
      return value.AsNumber();
    case Value::Type::kString:
      return std::string(value.AsString());
    case Value::Type::kNull:
    case Value::Type::kArray:
    case Value::Type::kObject:
      break;
  }
  return std::monostate{};
}

// One pass over the document. Errors go to the log, warnings to `conf_`, both with the path of the
// field.
class Reader {
 public:
  explicit Reader(objects::ReadLog& log) : log_(log) {}

  SchedulerConf Read(const Cursor& root) {
    root.ForEachMember([&](std::string_view key, const Cursor& member) {
      constexpr std::array<std::string_view, 4> kKeys = {
          "actions", "tiers", "configurations", "metrics"};
      if (!Has(kKeys, key)) Warn(member, "unknown key, ignored");
      if (key == "metrics") Warn(member, "no plugin of Strata reads it, ignored");
    });
    // Before the actions, which take their arguments from here.
    const Cursor configurations = root.At("configurations");
    configurations.ForEach([&](const Cursor& entry) { ReadConfiguration(entry); });
    const Cursor actions = root.At("actions");
    ReadActions(actions);
    const Cursor tiers = root.At("tiers");
    tiers.ForEach([&](const Cursor& tier) { ReadTier(tier); });
    return std::move(conf_);
  }

 private:
  void Warn(const Cursor& where, std::string_view message) {
    conf_.warnings.push_back(objects::OneLine(fmt::format("{}: {}", where.Path(), message)));
  }

  void ReadConfiguration(const Cursor& entry) {
    std::string name;
    const Cursor name_field = entry.At("name");
    name_field.Required().Read(name);
    entry.ForEachMember([&](std::string_view key, const Cursor& member) {
      if (key != "name" && key != "arguments") Warn(member, "unknown key, ignored");
    });
    if (const std::string known = InOtherCase(name); known != name) {
      Warn(name_field, fmt::format("read as \"{}\"", known));
      name = known;
    }
    if (entry.ok() && FindAction(name) == nullptr && !IsVolcanoAction(name)) {
      name_field.Fail(Unknown("action", name, ActionNames()));
    }
    const Cursor arguments = entry.At("arguments");
    const ActionConfig action{.name = name, .arguments = ReadArguments(arguments)};
    if (entry.ok() && FindAction(name) != nullptr) CheckAction(arguments, action);
    action_arguments_.insert_or_assign(name, action.arguments);
  }

  void CheckAction(const Cursor& arguments, const ActionConfig& action) {
    const Result<std::vector<std::string>> warnings = CheckArguments(action);
    if (!warnings) {
      log_.error = InPlace(arguments, warnings.error().message);
      return;
    }
    for (const std::string& warning : *warnings) {
      conf_.warnings.push_back(InPlace(arguments, warning));
    }
  }

  // What is said of an argument, behind the place where it stands.
  static std::string InPlace(const Cursor& arguments, std::string_view message) {
    return objects::OneLine(fmt::format("{}.{}", arguments.Path(), message));
  }

  void ReadActions(const Cursor& field) {
    std::string text;
    field.Read(text);
    if (!field.ok()) return;
    if (Trim(text).empty()) {
      return field.Fail(fmt::format("want at least one of {}", fmt::join(ActionNames(), ", ")));
    }
    for (std::string_view rest = text;;) {
      const std::size_t comma = rest.find(',');
      ReadAction(field, Trim(rest.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    if (field.ok() && conf_.config.actions.empty()) {
      field.Fail(fmt::format("none of these is supported yet (known: {})",
                             fmt::join(ActionNames(), ", ")));
    }
  }

  // The name in lower case when only that is the name of an action, as for gangPreempt of
  // Volcano's design document.
  static std::string InOtherCase(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool known = FindAction(lower) != nullptr || IsVolcanoAction(lower);
    return known ? lower : std::string(name);
  }

  void ReadAction(const Cursor& field, std::string_view written) {
    const std::string name = InOtherCase(written);
    if (name != written) Warn(field, fmt::format("\"{}\" is read as \"{}\"", written, name));
    if (FindAction(name) == nullptr) {
      if (!IsVolcanoAction(name)) return field.Fail(Unknown("action", name, ActionNames()));
      return Warn(field, fmt::format("action \"{}\" is not supported yet and is ignored", name));
    }
    conf_.config.actions.push_back({.name = name, .arguments = action_arguments_[name]});
  }

  void ReadTier(const Cursor& tier) {
    tier.ForEachMember([&](std::string_view key, const Cursor& member) {
      if (key != "plugins") Warn(member, "unknown key, ignored");
    });
    conf_.config.tiers.emplace_back();
    bool proportion = false;
    bool hierarchical_drf = false;
    const Cursor plugins = tier.At("plugins");
    plugins.ForEach([&](const Cursor& entry) {
      PluginConfig plugin = ReadPlugin(entry);
      proportion = proportion || plugin.name == "proportion";
      hierarchical_drf =
          hierarchical_drf || (plugin.name == "drf" && plugin.Enabled("enableHierarchy"));
      AddPlugin(entry, std::move(plugin));
    });
    if (proportion && hierarchical_drf) {
      plugins.Fail("drf with enableHierarchy and proportion exclude each other in one tier");
    }
  }

  PluginConfig ReadPlugin(const Cursor& entry) {
    PluginConfig plugin;
    const Cursor name = entry.At("name");
    name.Required().Read(plugin.name);
    entry.ForEachMember([&](std::string_view key, const Cursor& member) {
      if (key == "name" || key == "arguments") return;
      if (!Has(KnownSwitches(), key)) return Warn(member, "unknown key, ignored");
      if (const auto enabled = ReadSwitch(member)) plugin.switches.emplace(key, *enabled);
    });
    const Cursor arguments = entry.At("arguments");
    plugin.arguments = ReadArguments(arguments);
    if (entry.ok() && !IsPlugin(plugin.name) && !IsVolcanoPlugin(plugin.name)) {
      name.Fail(Unknown("plugin", plugin.name, PluginNames()));
    }
    return plugin;
  }

  static std::optional<bool> ReadSwitch(const Cursor& field) {
    if (!field.present()) return std::nullopt;
    const Value& value = field.value();
    if (value.type() == Value::Type::kBool) return value.AsBool();
    if (value.type() == Value::Type::kString) {
      if (value.AsString() == "true") return true;
      if (value.AsString() == "false") return false;
    }
    field.Fail(fmt::format("want true or false, found {}", value.Describe()));
    return std::nullopt;
  }

  static Arguments ReadArguments(const Cursor& field) {
    Arguments arguments;
    field.ForEachMember([&](std::string_view key, const Cursor& member) {
      if (member.present()) arguments.Set(std::string(key), ToArgument(member.value()));
    });
    return arguments;
  }

  // Makes the plugin once and throws it away: only the plugin knows its arguments, and only here is
  // it known where they stand in the file.
  void AddPlugin(const Cursor& entry, PluginConfig plugin) {
    if (!entry.ok()) return;
    if (!IsPlugin(plugin.name)) {
      return Warn(entry,
                  fmt::format("plugin \"{}\" is not supported yet and is ignored", plugin.name));
    }
    const Result<MadePlugin> made = MakePlugin(plugin, scratch_);
    const Cursor arguments = entry.At("arguments");
    const auto in_place = [&](std::string_view message) {
      return InPlace(arguments, WithoutPrefix(message, plugin.name));
    };
    if (!made) {
      log_.error = in_place(made.error().message);
      return;
    }
    for (const std::string& warning : made->warnings) {
      conf_.warnings.push_back(in_place(warning));
    }
    conf_.config.tiers.back().push_back(std::move(plugin));
  }

  // Messages about arguments begin with the plugin, which the path names already.
  static std::string_view WithoutPrefix(std::string_view message, std::string_view plugin) {
    if (message.starts_with(plugin) && message.substr(plugin.size()).starts_with(": ")) {
      message.remove_prefix(plugin.size() + 2);
    }
    return message;
  }

  objects::ReadLog& log_;
  SchedulerConf conf_;
  std::map<std::string, Arguments> action_arguments_;
  ResourceNames scratch_;
};

}  // namespace

Result<SchedulerConf> ParseSchedulerConf(const objects::Source& source) {
  TRY_ASSIGN(const objects::ConfFile file,
             objects::ParseConfFile(source, kConfigMapKey, "scheduler configuration"));
  if (!file.document) {
    return Fail(Code::kInvalidArgument,
                file.name + ": found 0 documents, want one scheduler configuration");
  }
  objects::ReadLog log;
  SchedulerConf conf = Reader(log).Read(Cursor(file.document->root(), log));
  if (!log.error.empty()) return Fail(Code::kInvalidArgument, file.name + ": " + log.error);
  for (std::string& warning : conf.warnings) warning.insert(0, file.name + ": ");
  return conf;
}

}  // namespace strata
