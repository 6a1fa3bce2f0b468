#include "discovery/source_config.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "objects/syntax.h"

namespace strata::discovery {
namespace {

using objects::Cursor;
using objects::Value;

constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::size_t kMaxTypeName = 20;
constexpr std::size_t kMaxTierName = 253;

struct Preset {
  std::string_view name;
  std::array<std::string_view, 3> keys;  // top first; "" for none
};

// A level below that holds one node each (gce-topology-host) says nothing and is left out.
constexpr std::array kPresets = {
    Preset{"aws",
           {"topology.k8s.aws/network-node-layer-1",
            "topology.k8s.aws/network-node-layer-2",
            "topology.k8s.aws/network-node-layer-3"}},
    Preset{"gcp",
           {"cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock", ""}},
    Preset{"oci",
           {"oci.oraclecloud.com/host.network_block_id", "oci.oraclecloud.com/host.rack_id", ""}},
    Preset{"azure", {"topology.kubernetes.io/zone", "", ""}},
    Preset{"nebius",
           {"topology.nebius.com/gpu-cluster-id",
            "topology.nebius.com/tier-2",
            "topology.nebius.com/tier-1"}},
    Preset{"topograph",
           {"fabric.topograph.run/tier-2",
            "fabric.topograph.run/tier-1",
            "fabric.topograph.run/tier-0"}},
};

enum class Unknown : std::uint8_t { kWarn, kError };

// The keys of one `config`.
struct Keys {
  std::vector<std::string_view> known;
  Unknown unknown = Unknown::kError;
};

void CheckKeys(const Cursor& config, const Keys& keys, std::vector<std::string>& unknown) {
  config.ForEachMember([&](std::string_view key, const Cursor& member) {
    if (std::find(keys.known.begin(), keys.known.end(), key) != keys.known.end()) return;
    if (keys.unknown == Unknown::kWarn) {
      unknown.push_back(member.Path());
    } else {
      member.Fail(fmt::format("unknown key (want {})", fmt::join(keys.known, ", ")));
    }
  });
}

void ReadServer(const Cursor& config, ServerConfig& out) {
  const Cursor endpoint = config.At("endpoint");
  endpoint.Required().Read(out.endpoint);
  config.At("insecureSkipVerify").Read(out.skip_verify);
  config.At("caFile").Read(out.ca_file);
  if (!config.ok()) return;
  if (out.endpoint.find("://") == std::string::npos) out.endpoint.insert(0, "https://");
  while (out.endpoint.ends_with('/')) out.endpoint.pop_back();
  const std::size_t host = out.endpoint.find("://") + 3;
  const bool web = out.endpoint.starts_with("https://") || out.endpoint.starts_with("http://");
  if (!web || host >= out.endpoint.size()) {
    return endpoint.Fail("want an address such as https://ufm.example.com");
  }
  if (out.endpoint.find('@') != std::string::npos) {
    endpoint.Fail("credentials do not belong here (want a Secret in credentials.secretRef)");
  }
}

// Paths are put behind the endpoint, so nothing may come after its own.
void RefuseQuery(const Cursor& endpoint, const ServerConfig& server) {
  if (endpoint.ok() && server.endpoint.find_first_of("?#") != std::string::npos) {
    endpoint.Fail("want an address without ? and # (such as https://ufm.example.com)");
  }
}

// A program and its arguments, as a list or as words in one string.
void ReadCommand(const Cursor& at, std::vector<std::string>& out) {
  if (!at.present() || !at.ok()) return;
  out.clear();
  if (at.value().type() == Value::Type::kString) {
    std::string_view rest = at.value().AsString();
    while (true) {
      const std::size_t begin = rest.find_first_not_of(" \t\n");
      if (begin == std::string_view::npos) break;
      rest.remove_prefix(begin);
      const std::size_t length = std::min(rest.find_first_of(" \t\n"), rest.size());
      out.emplace_back(rest.substr(0, length));
      rest.remove_prefix(length);
    }
  } else {
    at.Read(out);
  }
  if (at.ok() && (out.empty() || out.front().empty())) at.Fail("want a program and its arguments");
}

void ReadType(std::string_view name, const Cursor& levels, LabelConfig& out) {
  LabelConfig::Type type{.name = std::string(name), .keys = {}};
  if (name.size() > kMaxTypeName) {
    return levels.Fail(fmt::format("the name is too long ({} characters at most)", kMaxTypeName));
  }
  const bool has_letter = std::any_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
  if (!has_letter) return levels.Fail("want a name with letters or digits");
  levels.ForEach([&](const Cursor& level) {
    std::string key;
    const Cursor label = level.At("nodeLabel");
    label.Required().Read(key);
    if (!level.ok()) return;
    objects::CheckLabelKey(label, key);
    // It becomes a tierName.
    if (key.size() > kMaxTierName) label.Fail(fmt::format("too long (at most {})", kMaxTierName));
    if (std::find(type.keys.begin(), type.keys.end(), key) != type.keys.end()) {
      label.Fail(fmt::format("duplicate label {}", key));
    }
    type.keys.push_back(std::move(key));
  });
  if (!levels.ok()) return;
  if (!type.keys.empty() && type.keys.back() == kHostname) type.keys.pop_back();
  if (type.keys.empty()) return levels.Fail("want at least one nodeLabel above the node");
  out.types.push_back(std::move(type));
}

LabelConfig ReadLabel(const Cursor& config) {
  LabelConfig out;
  const Cursor types = config.At("networkTopologyTypes");
  const Cursor preset = config.At("preset");
  std::string wanted;
  preset.Read(wanted);
  if (types.present() && preset.present()) {
    preset.Fail("networkTopologyTypes is also set (want one of the two)");
  }
  types.ForEachMember(
      [&](std::string_view name, const Cursor& levels) { ReadType(name, levels, out); });
  std::sort(out.types.begin(), out.types.end(), [](const auto& a, const auto& b) {
    return a.name < b.name;
  });
  if (!config.ok() || wanted.empty()) return out;
  const auto found = std::find_if(
      kPresets.begin(), kPresets.end(), [&](const Preset& entry) { return entry.name == wanted; });
  if (found == kPresets.end()) {
    std::vector<std::string_view> known;
    known.reserve(kPresets.size());
    for (const Preset& entry : kPresets) known.push_back(entry.name);
    preset.UnknownWord(wanted, known);
    return out;
  }
  LabelConfig::Type& type = out.types.emplace_back();
  type.name = wanted;
  for (const std::string_view key : found->keys) {
    if (!key.empty()) type.keys.emplace_back(key);
  }
  return out;
}

UfmConfig ReadUfm(const Cursor& config) {
  UfmConfig out;
  ReadServer(config, out.server);
  RefuseQuery(config.At("endpoint"), out.server);
  return out;
}

// `from: nodes`, the only word there is.
bool ReadFrom(const Cursor& from) {
  std::string word;
  from.Read(word);
  if (from.present() && from.ok() && word != "nodes") from.UnknownWord(word, {"nodes"});
  return word == "nodes";
}

InfinibandConfig ReadInfiniband(const Cursor& config) {
  InfinibandConfig out;
  out.command = {"ibnetdiscover"};
  const Cursor file = config.At("file");
  const Cursor command = config.At("command");
  const Cursor from = config.At("from");
  out.from_nodes = ReadFrom(from);
  file.Read(out.file);
  ReadCommand(command, out.command);
  if (out.from_nodes && (file.present() || command.present())) {
    from.Fail("file or command is also set (want one of the three)");
  }
  if (file.present() && command.present()) {
    command.Fail("file is also set (want one of the two)");
  }
  if (config.ok() && file.present() && out.file.empty()) file.Fail("want a file name");
  return out;
}

void ReadInterfaces(const Cursor& at, std::vector<NamePattern>& out) {
  if (!at.present() || !at.ok()) return;
  const auto add = [&](const Cursor& item) {
    std::string text;
    item.Read(text);
    if (!item.ok()) return;
    Result<NamePattern> pattern = NamePattern::Compile("^(?:" + text + ")$");
    if (!pattern) return item.Fail(pattern.error().message + " (want an RE2 regular expression)");
    out.push_back(std::move(*pattern));
  };
  if (at.value().type() == Value::Type::kString) return add(at);
  at.ForEach(add);
}

RoceConfig ReadRoce(const Cursor& config) {
  RoceConfig out;
  const Cursor dir = config.At("lldpDir");
  const Cursor endpoint = config.At("endpoint");
  out.from_nodes = ReadFrom(config.At("from"));
  dir.Read(out.lldp_dir);
  if (dir.present() && endpoint.present()) {
    config.Fail("want one of lldpDir and endpoint, found both");
    return out;
  }
  if (!dir.present() && !endpoint.present() && !out.from_nodes) {
    config.Fail("want lldpDir, endpoint or from: nodes");
    return out;
  }
  if (endpoint.present()) ReadServer(config, out.server);
  const Cursor token = config.At("token");
  // Not Read(), whose message would quote it.
  if (token.present() && token.value().type() != Value::Type::kString) {
    token.Fail("want a string (put it in quotes)");
  }
  token.Read(out.token);
  ReadInterfaces(config.At("interfaces"), out.interfaces);
  return out;
}

ExecConfig ReadExec(const Cursor& config) {
  ExecConfig out;
  const Cursor command = config.At("command");
  ReadCommand(command.Required(), out.command);
  return out;
}

TopographConfig ReadTopograph(const Cursor& config) {
  TopographConfig out;
  const Cursor file = config.At("file");
  file.Read(out.file);
  if (file.present() == config.At("endpoint").present()) {
    config.Fail(file.present() ? "want one of file and endpoint, found both"
                               : "want file or endpoint");
    return out;
  }
  if (file.present()) return out;
  ReadServer(config, out.server);
  RefuseQuery(config.At("endpoint"), out.server);
  return out;
}

NvlinkConfig ReadNvlink(const Cursor& config) {
  NvlinkConfig out;
  const Cursor label = config.At("label");
  label.Read(out.label);
  objects::CheckLabelKey(label, out.label);
  return out;
}

using ConfigReader = void (*)(const Cursor& config, SourceConfig& out);

template <auto kRead>
void Store(const Cursor& config, SourceConfig& out) {
  out.config = kRead(config);
}

struct SourceKind {
  std::string_view name;
  ConfigReader read;
  // An entry without `config` means one without keys.
  bool needs_config;
  Keys keys;
};

const std::vector<SourceKind>& Kinds() {
  static const std::vector<SourceKind> kinds = {
      {"exec", Store<ReadExec>, true, {{"command"}}},
      {"infiniband", Store<ReadInfiniband>, false, {{"file", "command", "from"}}},
      {"label", Store<ReadLabel>, false, {{"networkTopologyTypes", "preset"}, Unknown::kWarn}},
      {"nvlink", Store<ReadNvlink>, false, {{"label"}}},
      {"roce",
       Store<ReadRoce>,
       true,
       {{"from", "lldpDir", "interfaces", "endpoint", "token", "caFile", "insecureSkipVerify"}}},
      {"topograph",
       Store<ReadTopograph>,
       true,
       {{"endpoint", "file", "caFile", "insecureSkipVerify"}}},
      {"ufm", Store<ReadUfm>, true, {{"endpoint", "insecureSkipVerify", "caFile"}, Unknown::kWarn}},
  };
  return kinds;
}

}  // namespace

void ReadSourceConfig(const Cursor& entry,
                      const Cursor& config,
                      SourceConfig& out,
                      std::vector<std::string>& unknown) {
  const auto found = std::find_if(Kinds().begin(), Kinds().end(), [&](const SourceKind& kind) {
    return kind.name == out.source;
  });
  if (found == Kinds().end()) {
    std::vector<std::string_view> known;
    known.reserve(Kinds().size());
    for (const SourceKind& kind : Kinds()) known.push_back(kind.name);
    return entry.At("source").UnknownWord(out.source, known);
  }
  if (found->needs_config) config.Required();
  if (!config.ok()) return;
  CheckKeys(config, found->keys, unknown);
  if (config.ok()) found->read(config, out);
}

}  // namespace strata::discovery
