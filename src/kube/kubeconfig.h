#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

// Which server, and as whom: kubeconfig files as kubectl reads them, or what a pod finds in its own
// cluster. Errors are one line with file and field, and never hold what a field holds.
namespace strata::kube {

// A text that is given inline, or by the name of a file that may change.
struct TextOrFile {
  std::string text;
  std::string file;  // absolute, or as the process sees it

  [[nodiscard]] bool empty() const { return text.empty() && file.empty(); }
};

// A program that prints credentials (client.authentication.k8s.io).
struct ExecConfig {
  std::string api_version;
  std::string command;  // a relative path with a '/' has become absolute
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string install_hint;
  bool needs_cluster_info = false;
};

struct ClusterConfig {
  std::string server;
  TextOrFile ca;
  std::string tls_server_name;
  std::string proxy;
  bool skip_tls_verify = false;
};

struct UserConfig {
  TextOrFile certificate;
  TextOrFile key;
  TextOrFile token;
  std::string username;
  std::string password;
  std::optional<ExecConfig> exec;
};

struct ConnectionConfig {
  ClusterConfig cluster;
  UserConfig user;
  std::string ns = "default";  // the namespace for those who name none
  std::string origin;          // for messages: "context dev of /home/a/.kube/config"
};

// What the command line says; "" where it says nothing.
struct ConnectionFlags {
  std::string kubeconfig;
  std::string context;
  std::string server;  // --master: goes before the one of the kubeconfig
};

// What is outside: injected.
struct Surroundings {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  // kNotFound when there is no such file.
  std::function<Result<std::string>(const std::string& path)> read;
};
[[nodiscard]] Surroundings SystemSurroundings();

struct ConfigText {
  std::string path;
  std::string text;
};

// The parts of kubeconfig files, merged: of what two files name, the first one's counts. A part
// with an error in it matters only when it is chosen: the file is shared by all of somebody's
// clusters.
struct Kubeconfig {
  struct Context {
    std::string cluster;
    std::string user;
    std::string ns;
    std::string path;  // of the file that has it
  };
  template <typename T>
  using Named = std::map<std::string, Result<T>, std::less<>>;

  Named<ClusterConfig> clusters;
  Named<UserConfig> users;
  Named<Context> contexts;
  std::string current;
  std::string paths;  // "a:b", for messages
};
[[nodiscard]] Result<Kubeconfig> ParseKubeconfigs(std::span<const ConfigText> texts);

// The named context, or the current one.
[[nodiscard]] Result<ConnectionConfig> ChooseContext(const Kubeconfig& config,
                                                     std::string_view context);

// --kubeconfig; else the files of $KUBECONFIG (those that are missing are passed over); else
// ~/.kube/config; else, in a pod, its service account.
[[nodiscard]] Result<ConnectionConfig> FindConnection(const ConnectionFlags& flags,
                                                      const Surroundings& outside);

// The text itself, or what the file holds now. `field` is for the message.
[[nodiscard]] Result<std::string> ReadText(const TextOrFile& from,
                                           std::string_view field,
                                           const Surroundings& outside);

}  // namespace strata::kube
