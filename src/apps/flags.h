#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/kubeconfig.h"
#include "local_cluster/embedded_api_server.h"
#include "objects/load.h"
#include "report/tree_rows.h"
#include "virtual_nodes/generate.h"
#include "whatif/edit.h"

namespace CLI {
class App;
}

// Flags that several commands have, as values. Each Add function binds them to a command: the
// values must outlive it. What needs conversion is converted here, once it has been checked.
namespace strata {

enum class OutputFormat : std::uint8_t { kTable, kWide, kName, kJson, kYaml };

// What `simulate` and its relatives read: manifests, or a running cluster.
struct InputFlags {
  std::vector<std::string> files;  // -f; none: the running cluster
  kube::ConnectionFlags connection;
  std::string scheduler_conf;  // "" for the one of the objects, else the default configuration
  std::optional<Time> now;
  objects::OnFault on_fault = objects::OnFault::kFail;  // of -f
  bool watch = false;       // again after each change; only of a running cluster
  std::string ns;           // -n; "" for that of the context, or "default" for manifests
  std::vector<Edit> edits;  // what if: changes made before anything is decided or shown

  [[nodiscard]] bool live() const { return files.empty(); }
};
void AddManifestFlags(CLI::App& command, InputFlags& flags);
// The same for a command that without -f looks at the running cluster.
void AddClusterFlags(CLI::App& command, InputFlags& flags);
// The same for a command whose arguments name what it reads: -f adds manifests to all of that.
void AddSharedFlags(CLI::App& command, InputFlags& flags);
// --validate, which decides what a fault of a manifest leads to.
void AddValidateFlag(CLI::App& command, objects::OnFault& on_fault);
void AddWatchFlag(CLI::App& command, InputFlags& flags);
// --drain, --cordon, --without, --add, --scale and --set.
void AddWhatIfFlags(CLI::App& command, InputFlags& flags);
// An edit as it is typed: "--drain rack-3".
[[nodiscard]] std::string TextOf(const Edit& edit);

// The first of `formats` is `output` as it stands.
void AddOutputFlag(CLI::App& command, OutputFormat& output, std::vector<std::string> formats);

// --depth and --under: how much of a tree is shown.
void AddTreeFlags(CLI::App& command, TreeView& view);

// Which cluster, as kubectl is told.
void AddConnectionFlags(CLI::App& command, kube::ConnectionFlags& flags);

// The flags of an API server in this process.
void AddServerFlags(CLI::App& command, ServerSettings& flags);
// Refuses --plain-http where others than this machine could come. For the command's callback:
// throws what the parser of the line throws.
void CheckServerFlags(const ServerSettings& flags);

// The cluster that is to be made up; none where it is not given.
void AddGenerateFlag(CLI::App& command, std::optional<virtual_nodes::GenerateSpec>& spec);

// What a check of the parser says: the message, "" when all is well.
template <typename T>
[[nodiscard]] std::string MessageOf(const Result<T>& result) {
  return result ? std::string() : result.error().message;
}
// The check of a path that must be one: "" is none, and is rarely meant.
[[nodiscard]] std::string CheckPath(const std::string& text);
// The check of "NAMESPACE/NAME".
[[nodiscard]] std::string CheckJobName(const std::string& text);
// The check of what ResolveName reads.
[[nodiscard]] std::string CheckName(const std::string& text);

struct NamespacedKey {
  std::string ns;
  std::string name;
  std::string kind = {};  // as KindOfWord gives it; "" where none was named

  bool operator==(const NamespacedKey&) const = default;
};
// "NAMESPACE/NAME", or "NAME" in the namespace of the flag -n, else in `otherwise`. A kind may come
// before the name: "pod/NAME", "NAMESPACE/pod/NAME"; a namespace called as a kind is given with -n.
// kInvalidArgument when the text and the flag name different namespaces.
[[nodiscard]] Result<NamespacedKey> ResolveName(const std::string& text,
                                                const std::string& flag,
                                                const std::string& otherwise);

}  // namespace strata
