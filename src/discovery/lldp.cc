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

// One neighbour on one interface.
struct Neighbour {
  std::string interface;  // of the machine that reports
  std::string chassis;    // "" when it does not say
  std::string name;       // "" when it does not say
  std::string port;       // the neighbour's interface, as far as it says
  bool tells_capabilities = false;
  bool forwards = false;  // Bridge or Router is enabled
};

// json0 wraps every scalar: [{"value": "leaf01"}].
std::string FirstValue(const Cursor& at) {
  std::string value;
  at.ForEach([&](const Cursor& item) {
    if (value.empty()) item.At("value").Read(value);
  });
  return value;
}

void ReadLldpPort(const Cursor& port, Neighbour& out) {
  std::string type;
  std::string id;
  port.At("id").ForEach([&](const Cursor& item) {
    item.At("type").Read(type);
    item.At("value").Read(id);
  });
  const std::string description = FirstValue(port.At("descr"));
  out.port = type == "ifname" || description.empty() ? id : description;
}

void ReadChassis(const Cursor& chassis, Neighbour& out) {
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

void ReadNeighbours(const Cursor& root, std::vector<Neighbour>& out) {
  const Cursor lldp = root.At("lldp");
  if (lldp.Required().present() && lldp.value().type() != Value::Type::kArray) {
    return lldp.Fail("want the form of lldpctl -f json0 (a list)");
  }
  lldp.ForEach([&](const Cursor& entry) {
    entry.At("interface").ForEach([&](const Cursor& interface) {
      Neighbour& neighbour = out.emplace_back();
      interface.At("name").Read(neighbour.interface);
      interface.At("chassis").ForEach([&](const Cursor& c) { ReadChassis(c, neighbour); });
      interface.At("port").ForEach([&](const Cursor& p) { ReadLldpPort(p, neighbour); });
    });
  });
}

using Reports = std::map<std::string, std::vector<Neighbour>>;

class LldpWiring {
 public:
  LldpWiring(const Reports& reports,
             const HostNames& names,
             const std::vector<NamePattern>& interfaces)
      : reports_(reports), names_(names), interfaces_(interfaces) {
    for (const auto& [owner, neighbours] : reports_) {
      for (const Neighbour& neighbour : neighbours) Learn(neighbour);
    }
    // Only what sees a host can be a switch that nobody else saw.
    for (const auto& [owner, neighbours] : reports_) {
      const bool sees_host = std::any_of(
          neighbours.begin(), neighbours.end(), [&](const Neighbour& n) { return IsHost(n); });
      if (!IsNode(owner) && (sees_host || forwarders_.contains(Key(owner)))) {
        switch_owners_.insert(owner);
      }
    }
  }

  Fabric Build() {
    for (const auto& [owner, neighbours] : reports_) {
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

  [[nodiscard]] bool IsHost(const Neighbour& neighbour) const {
    if (neighbour.name.empty()) return false;
    return IsNode(neighbour.name) || (neighbour.tells_capabilities && !neighbour.forwards);
  }

  void Learn(const Neighbour& neighbour) {
    if (neighbour.name.empty()) return;
    if (neighbour.forwards && !IsNode(neighbour.name)) forwarders_.insert(Key(neighbour.name));
    if (!neighbour.chassis.empty()) chassis_[Key(neighbour.name)].insert(neighbour.chassis);
  }

  // A switch does not report its own chassis: it is the one that others saw under its name.
  [[nodiscard]] std::string IdOf(const std::string& owner) const {
    const auto found = chassis_.find(Key(owner));
    const bool one = found != chassis_.end() && found->second.size() == 1;
    return one ? *found->second.begin() : Key(owner);
  }

  static std::string IdOf(const Neighbour& neighbour) {
    return neighbour.chassis.empty() ? Key(neighbour.name) : neighbour.chassis;
  }

  [[nodiscard]] bool Counts(const std::string& interface) const {
    return interfaces_.empty() ||
           std::any_of(interfaces_.begin(), interfaces_.end(), [&](const NamePattern& pattern) {
             return pattern.Matches(interface);
           });
  }

  void AddSwitchReport(const std::string& owner, const std::vector<Neighbour>& neighbours) {
    const std::string id = IdOf(owner);
    fabric_.AddSwitch(id, owner);
    for (const Neighbour& neighbour : neighbours) {
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

  void AddHostReport(const std::string& owner, const std::vector<Neighbour>& neighbours) {
    fabric_.AddHost(owner);
    for (const Neighbour& neighbour : neighbours) {
      const bool anonymous = IdOf(neighbour).empty();
      if (!Counts(neighbour.interface) || IsHost(neighbour) || anonymous) continue;
      fabric_.AddSwitch(IdOf(neighbour), neighbour.name);
      fabric_.LinkHost(owner, IdOf(neighbour), Fabric::Seen::kByHost);
    }
  }

  const Reports& reports_;
  const HostNames& names_;
  const std::vector<NamePattern>& interfaces_;
  std::set<std::string> forwarders_;                      // by key
  std::map<std::string, std::set<std::string>> chassis_;  // by key
  std::set<std::string> switch_owners_;
  Fabric fabric_;
};

Status ReadReport(const std::string& owner, const Value& root, Reports& out) {
  objects::ReadLog log;
  const Cursor cursor(root, log);
  ReadNeighbours(cursor, out[owner]);
  if (!log.error.empty()) return Fail(Code::kInvalidArgument, owner + ": " + log.error);
  return {};
}

Result<Fabric> ReadAnswer(const std::string& text,
                          const HostNames& names,
                          const std::vector<NamePattern>& interfaces) {
  TRY_ASSIGN(const objects::Document document, objects::Document::ParseJson(text));
  objects::ReadLog log;
  const Cursor root(document.root(), log);
  Reports reports;
  Status read;
  root.ForEachMember([&](std::string_view owner, const Cursor& report) {
    if (read && report.Required().present()) {
      read = ReadReport(std::string(owner), report.value(), reports);
    }
  });
  TRY(std::move(read));
  if (!log.error.empty()) return Fail(Code::kInvalidArgument, log.error);
  return LldpWiring(reports, names, interfaces).Build();
}

}  // namespace

Result<Fabric> FabricOfLldp(const std::map<std::string, std::string>& texts,
                            const HostNames& names,
                            const std::vector<NamePattern>& interfaces) {
  Reports reports;
  for (const auto& [owner, text] : texts) {
    const Result<objects::Document> document = objects::Document::ParseJson(text);
    if (!document) return tl::unexpected(Error(document.error()).Context(owner));
    TRY(ReadReport(owner, document->root(), reports));
  }
  return LldpWiring(reports, names, interfaces).Build();
}

Result<Fabric> ReadRoce(const RoceConfig& config,
                        const Credentials& credentials,
                        const HostNames& names,
                        Reader& reader) {
  if (!config.lldp_dir.empty()) {
    TRY_ASSIGN(const auto texts, reader.ReadFolder(config.lldp_dir, ".json0"));
    Result<Fabric> fabric = FabricOfLldp(texts, names, config.interfaces);
    if (!fabric) return tl::unexpected(Error(fabric.error()).Context(config.lldp_dir));
    return fabric;
  }
  Credentials used = credentials;
  if (!config.token.empty()) used.token = config.token;
  const HttpRequest request{
      .url = config.server.endpoint, .server = &config.server, .credentials = &used, .body = ""};
  TRY_ASSIGN(const HttpAnswer answer, reader.Send(request));
  TRY(CheckStatus(request.url, answer));
  Result<Fabric> fabric = ReadAnswer(answer.body, names, config.interfaces);
  if (!fabric) return tl::unexpected(Error(fabric.error()).Context(ShownUrl(request.url)));
  return fabric;
}

}  // namespace strata::discovery
