#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/name_pattern.h"
#include "objects/load.h"

// volcano-controller.conf: which sources HyperNodes are discovered from.
namespace strata::discovery {

// How a server is reached. Certificates are verified unless told otherwise.
struct ServerConfig {
  std::string endpoint;  // with scheme, without trailing '/'
  bool skip_verify = false;
  std::string ca_file;  // "" for the system's
};

struct LabelConfig {
  struct Type {
    std::string name;
    std::vector<std::string> keys;  // top first; the node itself is not among them
  };
  std::vector<Type> types;  // by name; none: nothing is configured yet
};

struct UfmConfig {
  ServerConfig server;
};

struct InfinibandConfig {
  bool from_nodes = false;           // what agents have written on Nodes, instead of the below
  std::string file;                  // saved text; "" to run `command`
  std::vector<std::string> command;  // program and arguments
};

struct RoceConfig {
  bool from_nodes = false;  // what agents have written on Nodes, beside the reports of the below
  std::string lldp_dir;     // "" to ask `server`
  ServerConfig server;
  std::string token;                    // "" for that of the Secret
  std::vector<NamePattern> interfaces;  // any of them, whole name; none: all interfaces
};

struct ExecConfig {
  std::vector<std::string> command;
};

struct TopographConfig {
  std::string file;  // "" to ask `server`
  ServerConfig server;
};

struct NvlinkConfig {
  std::string label = "nvidia.com/gpu.clique";
};

struct SecretRef {
  std::string ns;
  std::string name;
};

// One entry of networkTopologyDiscovery.
struct SourceConfig {
  std::string where;   // "networkTopologyDiscovery[0]"
  std::string source;  // "ufm"
  std::string name;    // tells two entries of one source apart; "" for none
  bool enabled = false;
  Duration interval{};  // one hour when the entry does not say
  Duration timeout{};   // of one pass, in all; 30 s when the entry does not say
  std::optional<SecretRef> secret;
  std::variant<LabelConfig,
               UfmConfig,
               InfinibandConfig,
               RoceConfig,
               ExecConfig,
               TopographConfig,
               NvlinkConfig>
      config;
  // Why an enabled entry cannot be used, one line with file and field; the other entries can.
  std::string error;

  // "ufm", or "ufm/east" for an entry with a name: how messages call it.
  [[nodiscard]] std::string Title() const;
  [[nodiscard]] bool Answers(const std::string& wanted) const {
    return wanted == source || wanted == name;
  }
};

struct DiscoveryConf {
  std::vector<SourceConfig> sources;  // in the order of the file
  std::vector<std::string>
      warnings;  // unknown keys of Volcano's file, mistakes in disabled entries
};

// Reads a volcano-controller.conf, bare or inside its ConfigMap. An empty text has no sources.
//
// kInvalidArgument only for what concerns the file as a whole: broken YAML, a
// networkTopologyDiscovery that is not a list. A mistake in one entry is the `error` of that entry.
// A key that is unknown is a warning where Volcano's own file has keys, and an error in the
// `config` of a source that only Strata has.
[[nodiscard]] Result<DiscoveryConf> ParseDiscoveryConf(const objects::Source& source);

// kInvalidArgument when one of `wanted` is neither source nor name of an enabled entry; the message
// lists the enabled entries.
[[nodiscard]] Status CheckSourceNames(const DiscoveryConf& conf,
                                      const std::vector<std::string>& wanted);

}  // namespace strata::discovery
