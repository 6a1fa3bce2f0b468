#include "discovery/config.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/duration.h"
#include "discovery/source_config.h"
#include "objects/conf_file.h"
#include "objects/cursor.h"
#include "objects/syntax.h"

namespace strata::discovery {
namespace {

using objects::Cursor;
using objects::Value;

constexpr std::string_view kConfigMapKey = "volcano-controller.conf";
constexpr std::string_view kList = "networkTopologyDiscovery";
constexpr std::size_t kMaxName = 40;

void ReadInterval(const Cursor& at, Duration& out) {
  out = std::chrono::hours(1);
  if (!at.present()) return;
  Duration given{};
  if (at.value().type() == Value::Type::kInteger) {
    // As Go reads it: nanoseconds.
    given = std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(at.value().AsInteger()));
  } else {
    std::string text;
    at.Read(text);
    if (!at.ok()) return;
    const Result<Duration> parsed = ParseDuration(text);
    if (!parsed) return at.Fail(parsed.error().message);
    given = *parsed;
  }
  if (given > Duration(0)) out = given;
}

void ReadTimeout(const Cursor& at, Duration& out) {
  constexpr std::chrono::seconds kLongest{30};
  out = kLongest;
  if (!at.present()) return;
  std::string text;
  at.Read(text);
  if (!at.ok()) return;
  const Result<Duration> parsed = ParseDuration(text);
  if (!parsed) return at.Fail(parsed.error().message);
  if (*parsed <= Duration(0) || *parsed > kLongest) {
    return at.Fail(fmt::format("{} is out of range (want more than 0s, at most 30s)", text));
  }
  out = *parsed;
}

void ReadSecretRef(const Cursor& at, std::optional<SecretRef>& out) {
  // Not the message of a wrong type, which would quote a password that somebody put here.
  const auto refuse = [](const Cursor& found) {
    const bool wrong = found.present() && found.value().type() != Value::Type::kObject;
    if (wrong) found.Fail("want the name and namespace of a Secret in credentials.secretRef");
    return wrong;
  };
  if (refuse(at)) return;
  const Cursor ref = at.At("secretRef");
  if (!ref.present() || refuse(ref)) return;
  SecretRef& secret = out.emplace();
  ref.At("name").Required().Read(secret.name);
  secret.ns = "volcano-system";
  ref.At("namespace").Read(secret.ns);
}

void ReadName(const Cursor& at, std::string& out) {
  at.Read(out);
  if (!at.ok() || out.empty()) return;
  if (!objects::IsDnsLabel(out) || out.size() > kMaxName) {
    at.Fail(fmt::format("bad name \"{}\" (want lower-case letters, digits and '-', at most {})",
                        out.substr(0, 100),
                        kMaxName));
  }
}

class EntryReader {
 public:
  explicit EntryReader(std::string file) : file_(std::move(file)) {}

  Result<DiscoveryConf> Read(const Value& root) {
    objects::ReadLog log;
    const Cursor cursor(root, log);
    WarnUnknown(cursor, "", {kList});
    const Cursor list = cursor.At(kList);
    std::size_t index = 0;
    list.ForEach([&](const Cursor& entry) { ReadEntry(entry.value(), index++); });
    if (!log.error.empty()) return Fail(Code::kInvalidArgument, file_ + ": " + log.error);
    RefuseTwins();
    return std::move(conf_);
  }

 private:
  void ReadEntry(const Value& value, std::size_t index) {
    SourceConfig entry;
    entry.where = fmt::format("{}[{}]", kList, index);
    objects::ReadLog log;
    const Cursor at(value, log);
    WarnUnknown(at,
                entry.where,
                {"source", "name", "enabled", "interval", "timeout", "credentials", "config"});
    ReadIdentity(value, entry);
    at.At("source").Required().Read(entry.source);
    at.At("enabled").Read(entry.enabled);
    ReadName(at.At("name"), entry.name);
    ReadInterval(at.At("interval"), entry.interval);
    ReadTimeout(at.At("timeout"), entry.timeout);
    const Cursor credentials = at.At("credentials");
    ReadSecretRef(credentials, entry.secret);
    const Cursor config = at.At("config");
    if (log.error.empty()) {
      std::vector<std::string> unknown;
      ReadSourceConfig(at, config, entry, unknown);
      for (const std::string& path : unknown) Warn(entry.where, path, "unknown key, ignored");
    }
    if (!log.error.empty()) {
      entry.error = fmt::format("{}: {}.{}", file_, entry.where, log.error);
      if (!entry.enabled) conf_.warnings.push_back(entry.error + " (not enabled)");
    }
    conf_.sources.push_back(std::move(entry));
  }

  // Whatever is wrong with an entry, whose HyperNodes it speaks of is known as far as it can be, so
  // that they are kept. An `enabled` that cannot be read may have meant true.
  static void ReadIdentity(const Value& value, SourceConfig& entry) {
    if (value.type() != Value::Type::kObject) return;
    const auto text = [&](std::string_view key, std::string& out) {
      const std::optional<Value> found = value.Find(key);
      if (found && found->type() == Value::Type::kString) out = found->AsString();
    };
    text("source", entry.source);
    text("name", entry.name);
    const std::optional<Value> enabled = value.Find("enabled");
    entry.enabled = enabled && enabled->type() != Value::Type::kNull &&
                    (enabled->type() != Value::Type::kBool || enabled->AsBool());
  }

  // Two enabled entries of one source and name would own the same HyperNodes.
  void RefuseTwins() {
    std::set<std::pair<std::string, std::string>> seen;
    for (SourceConfig& entry : conf_.sources) {
      if (!entry.enabled || !entry.error.empty()) continue;
      if (seen.insert({entry.source, entry.name}).second) continue;
      entry.error = fmt::format(
          "{}: {}.name: another enabled {} source has this name (give each its own "
          "name)",
          file_,
          entry.where,
          entry.source);
    }
  }

  void WarnUnknown(const Cursor& at,
                   const std::string& where,
                   std::initializer_list<std::string_view> known) {
    at.ForEachMember([&](std::string_view key, const Cursor& /*member*/) {
      if (std::find(known.begin(), known.end(), key) != known.end()) return;
      Warn(where, std::string(key), "unknown key, ignored");
    });
  }

  void Warn(const std::string& where, const std::string& path, std::string_view message) {
    conf_.warnings.push_back(
        fmt::format("{}: {}{}{}: {}", file_, where, where.empty() ? "" : ".", path, message));
  }

  std::string file_;
  DiscoveryConf conf_;
};

}  // namespace

std::string SourceConfig::Title() const {
  return name.empty() ? source : source + "/" + name;
}

Result<DiscoveryConf> ParseDiscoveryConf(const objects::Source& source) {
  TRY_ASSIGN(const objects::ConfFile file,
             objects::ParseConfFile(source, kConfigMapKey, "controller configuration"));
  if (!file.document) return DiscoveryConf{};
  return EntryReader(file.name).Read(file.document->root());
}

Status CheckSourceNames(const DiscoveryConf& conf, const std::vector<std::string>& wanted) {
  std::vector<std::string> enabled;
  for (const SourceConfig& entry : conf.sources) {
    if (entry.enabled) enabled.push_back(entry.Title());
  }
  for (const std::string& name : wanted) {
    const bool found =
        std::any_of(conf.sources.begin(), conf.sources.end(), [&](const SourceConfig& entry) {
          return entry.enabled && entry.Answers(name);
        });
    if (found) continue;
    return Fail(
        Code::kInvalidArgument,
        fmt::format("no enabled source \"{}\" (enabled: {})",
                    name,
                    enabled.empty() ? "none" : fmt::format("{}", fmt::join(enabled, ", "))));
  }
  return {};
}

}  // namespace strata::discovery
