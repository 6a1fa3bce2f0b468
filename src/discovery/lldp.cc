#include "discovery/lldp.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "discovery/http_answer.h"
#include "objects/cursor.h"
#include "objects/value.h"

namespace strata::discovery {
namespace {

using objects::Cursor;
using objects::Value;

// json0 wraps every scalar: [{"value": "leaf01"}].
std::string FirstValue(const Cursor& at) {
  std::string value;
  at.ForEach([&](const Cursor& item) {
    if (value.empty()) item.At("value").Read(value);
  });
  return value;
}

void ReadLldpPort(const Cursor& port, LldpNeighbour& out) {
  std::string type;
  std::string id;
  port.At("id").ForEach([&](const Cursor& item) {
    item.At("type").Read(type);
    item.At("value").Read(id);
  });
  const std::string description = FirstValue(port.At("descr"));
  out.port = type == "ifname" || description.empty() ? id : description;
}

void ReadChassis(const Cursor& chassis, LldpNeighbour& out) {
  out.chassis = FirstValue(chassis.At("id"));
  out.name = FirstValue(chassis.At("name"));
  chassis.At("capability").ForEach([&](const Cursor& capability) {
    std::string type;
    bool enabled = false;
    capability.At("type").Read(type);
    capability.At("enabled").Read(enabled);
    out.tells_capabilities = true;
    out.forwards = out.forwards || (enabled && (type == "Bridge" || type == "Router"));
  });
}

void ReadNeighbours(const Cursor& root, std::vector<LldpNeighbour>& out) {
  const Cursor lldp = root.At("lldp");
  if (lldp.Required().present() && lldp.value().type() != Value::Type::kArray) {
    return lldp.Fail("want the form of lldpctl -f json0 (a list)");
  }
  lldp.ForEach([&](const Cursor& entry) {
    entry.At("interface").ForEach([&](const Cursor& interface) {
      LldpNeighbour& neighbour = out.emplace_back();
      interface.At("name").Read(neighbour.interface);
      interface.At("chassis").ForEach([&](const Cursor& c) { ReadChassis(c, neighbour); });
      interface.At("port").ForEach([&](const Cursor& p) { ReadLldpPort(p, neighbour); });
    });
  });
}

class LldpWiring {
 public:
  LldpWiring(const LldpReports& reports,
             const HostNames& names,
             const std::vector<NamePattern>& interfaces)
      : reports_(reports), names_(names), interfaces_(interfaces) {
    for (const auto& [owner, neighbours] : reports_) {
      for (const LldpNeighbour& neighbour : neighbours) Learn(neighbour);
    }
    FindDisputes();
    // Only what sees a host can be a switch that nobody else saw.
    for (const auto& [owner, neighbours] : reports_) {
      const bool sees_host = std::any_of(
          neighbours.begin(), neighbours.end(), [&](const LldpNeighbour& n) { return IsHost(n); });
      if (!IsNode(owner) && (sees_host || forwarders_.contains(Key(owner)))) {
        switch_owners_.insert(owner);
      }
    }
  }

  Fabric Build() {
    for (const auto& [owner, neighbours] : reports_) {
      if (disputed_names_.contains(MachineOf(owner))) continue;
      if (switch_owners_.contains(owner)) {
        AddSwitchReport(owner, neighbours);
      } else {
        AddHostReport(owner, neighbours);
      }
    }
    return std::move(fabric_);
  }

 private:
  // Machines call themselves by short and by full names.
  static std::string Key(const std::string& name) {
    const std::string lower = LowerCase(name);
    return lower.substr(0, lower.find('.'));
  }

  [[nodiscard]] bool IsNode(const std::string& name) const {
    return names_.knows_nodes() && names_.Find(name).has_value();
  }

  [[nodiscard]] bool IsHost(const LldpNeighbour& neighbour) const {
    if (neighbour.name.empty()) return false;
    return IsNode(neighbour.name) || (neighbour.tells_capabilities && !neighbour.forwards);
  }

  void Learn(const LldpNeighbour& neighbour) {
    if (neighbour.name.empty()) return;
    if (neighbour.forwards && !IsNode(neighbour.name)) forwarders_.insert(Key(neighbour.name));
    if (!neighbour.chassis.empty()) chassis_[Key(neighbour.name)].insert(neighbour.chassis);
  }

  // A node by its node's name: it may call itself by several.
  [[nodiscard]] std::string MachineOf(const std::string& name) const {
    std::optional<std::string> node;
    if (names_.knows_nodes()) node = names_.Find(name);
    return node ? *node : Key(name);
  }

  // Copied machines, and machines that pass for others. As one machine they would join all that
  // their neighbours are in.
  void FindDisputes() {
    std::map<std::string, std::set<std::string>> claimants;  // by chassis
    for (const auto& [owner, neighbours] : reports_) {
      for (const LldpNeighbour& neighbour : neighbours) {
        if (neighbour.name.empty() || neighbour.chassis.empty()) continue;
        claimants[neighbour.chassis].insert(MachineOf(neighbour.name));
      }
    }
    for (const auto& [chassis, machines] : claimants) {
      if (machines.size() < 2) continue;
      fabric_.disputed[chassis] = {machines.begin(), machines.end()};
      disputed_names_.insert(machines.begin(), machines.end());
    }
  }

  [[nodiscard]] bool IsDisputed(const LldpNeighbour& neighbour) const {
    return fabric_.disputed.contains(neighbour.chassis) ||
           (!neighbour.name.empty() && disputed_names_.contains(MachineOf(neighbour.name)));
  }

  // A switch does not report its own chassis: it is the one that others saw under its name.
  [[nodiscard]] std::string IdOf(const std::string& owner) const {
    const auto found = chassis_.find(Key(owner));
    const bool one = found != chassis_.end() && found->second.size() == 1;
    return one ? *found->second.begin() : Key(owner);
  }

  static std::string IdOf(const LldpNeighbour& neighbour) {
    return neighbour.chassis.empty() ? Key(neighbour.name) : neighbour.chassis;
  }

  [[nodiscard]] bool Counts(const std::string& interface) const {
    return interfaces_.empty() ||
           std::any_of(interfaces_.begin(), interfaces_.end(), [&](const NamePattern& pattern) {
             return pattern.Matches(interface);
           });
  }

  void AddSwitchReport(const std::string& owner, const std::vector<LldpNeighbour>& neighbours) {
    const std::string id = IdOf(owner);
    fabric_.AddSwitch(id, owner);
    for (const LldpNeighbour& neighbour : neighbours) {
      if (IsDisputed(neighbour)) continue;
      if (IsHost(neighbour)) {
        if (!Counts(neighbour.port)) continue;
        fabric_.AddHost(neighbour.name);
        fabric_.LinkHost(neighbour.name, id, Fabric::Seen::kBySwitch);
      } else if (neighbour.forwards && !IdOf(neighbour).empty()) {
        fabric_.AddSwitch(IdOf(neighbour), neighbour.name);
        fabric_.LinkSwitches(id, IdOf(neighbour));
      }
    }
  }

  void AddHostReport(const std::string& owner, const std::vector<LldpNeighbour>& neighbours) {
    fabric_.AddHost(owner);
    for (const LldpNeighbour& neighbour : neighbours) {
      const bool anonymous = IdOf(neighbour).empty();
      const bool counts = Counts(neighbour.interface) && !IsDisputed(neighbour);
      if (!counts || IsHost(neighbour) || anonymous) continue;
      fabric_.AddSwitch(IdOf(neighbour), neighbour.name);
      fabric_.LinkHost(owner, IdOf(neighbour), Fabric::Seen::kByHost);
    }
  }

  const LldpReports& reports_;
  const HostNames& names_;
  const std::vector<NamePattern>& interfaces_;
  std::set<std::string> forwarders_;                      // by key
  std::map<std::string, std::set<std::string>> chassis_;  // by key
  std::set<std::string> switch_owners_;
  std::set<std::string> disputed_names_;  // machines that claim a chassis that another claims, too
  Fabric fabric_;
};

Result<std::vector<LldpNeighbour>> ReadReport(const Value& root) {
  objects::ReadLog log;
  const Cursor cursor(root, log);
  std::vector<LldpNeighbour> neighbours;
  ReadNeighbours(cursor, neighbours);
  if (!log.error.empty()) return Fail(Code::kInvalidArgument, log.error);
  return neighbours;
}

// {"<host or switch>": <its json0>}
Result<LldpReports> ReadAnswer(const std::string& text) {
  TRY_ASSIGN(const objects::Document document, objects::Document::ParseJson(text));
  objects::ReadLog log;
  const Cursor root(document.root(), log);
  LldpReports reports;
  Status read;
  root.ForEachMember([&](std::string_view owner, const Cursor& report) {
    if (!read || !report.Required().present()) return;
    Result<std::vector<LldpNeighbour>> neighbours = ReadReport(report.value());
    if (neighbours) {
      reports[std::string(owner)] = std::move(*neighbours);
    } else {
      read = tl::unexpected(std::move(neighbours.error()).Context(std::string(owner)));
    }
  });
  TRY(std::move(read));
  if (!log.error.empty()) return Fail(Code::kInvalidArgument, log.error);
  return reports;
}

}  // namespace

Result<std::vector<LldpNeighbour>> ReadLldpReport(std::string_view text) {
  TRY_ASSIGN(const objects::Document document, objects::Document::ParseJson(text));
  return ReadReport(document.root());
}

Result<LldpReports> ReadLldpReports(const std::map<std::string, std::string>& texts) {
  LldpReports reports;
  for (const auto& [owner, text] : texts) {
    Result<std::vector<LldpNeighbour>> neighbours = ReadLldpReport(text);
    if (!neighbours) return tl::unexpected(std::move(neighbours.error()).Context(owner));
    reports[owner] = std::move(*neighbours);
  }
  return reports;
}

Fabric FabricOfLldp(const LldpReports& reports,
                    const HostNames& names,
                    const std::vector<NamePattern>& interfaces) {
  return LldpWiring(reports, names, interfaces).Build();
}

Result<LldpReports> ReadRoce(const RoceConfig& config,
                             const Credentials& credentials,
                             Reader& reader) {
  if (!config.lldp_dir.empty()) {
    TRY_ASSIGN(const auto texts, reader.ReadFolder(config.lldp_dir, ".json0"));
    Result<LldpReports> reports = ReadLldpReports(texts);
    if (!reports) return tl::unexpected(std::move(reports.error()).Context(config.lldp_dir));
    return reports;
  }
  if (config.server.endpoint.empty()) return LldpReports();
  Credentials used = credentials;
  if (!config.token.empty()) used.token = config.token;
  const HttpRequest request{
      .url = config.server.endpoint, .server = &config.server, .credentials = &used, .body = ""};
  TRY_ASSIGN(const HttpAnswer answer, reader.Send(request));
  TRY(CheckStatus(request.url, answer));
  Result<LldpReports> reports = ReadAnswer(answer.body);
  if (!reports) return tl::unexpected(std::move(reports.error()).Context(ShownUrl(request.url)));
  return reports;
}

}  // namespace strata::discovery
