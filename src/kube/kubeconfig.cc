#include "kube/kubeconfig.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/ascii.h"
#include "base/base64.h"
#include "kube/credentials.h"
#include "kube/kubeconfig_fields.h"
#include "objects/document.h"

namespace strata::kube {
namespace {

constexpr std::string_view kAccount = "/var/run/secrets/kubernetes.io/serviceaccount/";

// As seen from the folder of `config`, the file that names it.
std::string Resolve(const std::string& path, const std::string& config) {
  if (path.empty() || path.front() == '/') return path;
  return (std::filesystem::path(config).parent_path() / path).string();
}

Status ReadData(const ConfigField& field, std::string& out) {
  std::string coded;
  TRY(field.Read(coded));
  const auto bytes = DecodeBase64(coded);
  if (!bytes) return field.Bad("base64");
  out = *bytes;
  return {};
}

Status ReadToken(const ConfigField& field, std::string& out) {
  TRY(field.Read(out));
  out = std::string(Trim(out));
  return FitsHeader(out) ? Status{} : field.Bad("a token, in one line of text");
}

Status ReadPath(const ConfigField& field, const std::string& config, std::string& out) {
  TRY(field.Read(out));
  out = Resolve(out, config);
  return {};
}

Status ReadCluster(const ConfigField& at, const std::string& path, ClusterConfig& out) {
  TRY(at.ForEachMember([&](std::string_view key, const ConfigField& field) -> Status {
    if (key == "server") return field.Read(out.server);
    if (key == "certificate-authority") return ReadPath(field, path, out.ca.file);
    if (key == "certificate-authority-data") return ReadData(field, out.ca.text);
    if (key == "tls-server-name") return field.Read(out.tls_server_name);
    if (key == "proxy-url") return field.Read(out.proxy);
    if (key == "insecure-skip-tls-verify") return field.Read(out.skip_tls_verify);
    return {};
  }));
  if (out.skip_tls_verify && !out.ca.empty()) {
    return at.Bad("a certificate authority or insecure-skip-tls-verify, not both");
  }
  return {};
}

Status ReadVariable(const ConfigField& at, ExecConfig& out) {
  std::pair<std::string, std::string> variable;
  TRY(at.ForEachMember([&](std::string_view key, const ConfigField& field) -> Status {
    if (key == "name") return field.Read(variable.first);
    if (key == "value") return field.Read(variable.second);
    return {};
  }));
  if (variable.first.empty() || variable.first.find('=') != std::string::npos) {
    return at.Bad("the name of an environment variable");
  }
  out.environment.push_back(std::move(variable));
  return {};
}

Status ReadExec(const ConfigField& at, const std::string& path, ExecConfig& out) {
  TRY(at.ForEachMember([&](std::string_view key, const ConfigField& field) -> Status {
    if (key == "apiVersion") return field.Read(out.api_version);
    if (key == "command") return field.Read(out.command);
    if (key == "installHint") return field.Read(out.install_hint);
    if (key == "provideClusterInfo") return field.Read(out.needs_cluster_info);
    if (key == "args") {
      return field.ForEachItem(
          [&](const ConfigField& item) { return item.Read(out.arguments.emplace_back()); });
    }
    if (key == "env") {
      return field.ForEachItem([&](const ConfigField& item) { return ReadVariable(item, out); });
    }
    return {};
  }));
  if (out.command.empty()) return at.Bad("a command");
  if (!out.api_version.starts_with("client.authentication.k8s.io/v1")) {
    return at.Bad("apiVersion client.authentication.k8s.io/v1 or v1beta1");
  }
  if (out.command.find('/') != std::string::npos) out.command = Resolve(out.command, path);
  return {};
}

Status CheckUser(const ConfigField& at, const UserConfig& user) {
  if (!user.token.empty() && !user.username.empty()) {
    return at.Bad("a token or a username, not both");
  }
  if (user.certificate.empty() != user.key.empty()) {
    return at.Bad("client-certificate and client-key together");
  }
  return {};
}

Status ReadUser(const ConfigField& at, const std::string& path, UserConfig& out) {
  TRY(at.ForEachMember([&](std::string_view key, const ConfigField& field) -> Status {
    if (key == "client-certificate") return ReadPath(field, path, out.certificate.file);
    if (key == "client-certificate-data") return ReadData(field, out.certificate.text);
    if (key == "client-key") return ReadPath(field, path, out.key.file);
    if (key == "client-key-data") return ReadData(field, out.key.text);
    if (key == "token") return ReadToken(field, out.token.text);
    if (key == "tokenFile") return ReadPath(field, path, out.token.file);
    if (key == "username") return field.Read(out.username);
    if (key == "password") return field.Read(out.password);
    if (key == "exec") return ReadExec(field, path, out.exec.emplace());
    // Passing over who we are to act as would be to act as somebody else.
    if (key == "auth-provider") return field.Bad("exec: auth-provider is no longer supported");
    if (key == "as" || key == "as-uid" || key == "as-groups" || key == "as-user-extra") {
      return field.Bad("no impersonation: it is not supported");
    }
    return {};
  }));
  if (!out.token.file.empty()) out.token.text.clear();  // the file is the newer one
  return CheckUser(at, out);
}

Status ReadContext(const ConfigField& at, const std::string& path, Kubeconfig::Context& out) {
  out.path = path;
  return at.ForEachMember([&](std::string_view key, const ConfigField& field) -> Status {
    if (key == "cluster") return field.Read(out.cluster);
    if (key == "user") return field.Read(out.user);
    if (key == "namespace") return field.Read(out.ns);
    return {};
  });
}

// {name, <member>}. What is wrong with the member is kept in its place.
template <typename T, typename ReadOne>
Result<std::pair<std::string, Result<T>>> ReadEntry(const ConfigField& item,
                                                    std::string_view member,
                                                    const ReadOne& read) {
  std::string name;
  T part;
  Status good;
  TRY(item.ForEachMember([&](std::string_view key, const ConfigField& field) -> Status {
    if (key == "name") return field.Read(name);
    if (key == member) good = read(field, part);
    return {};
  }));
  if (!good) return std::pair(std::move(name), Result<T>(tl::unexpected(good.error())));
  return std::pair(std::move(name), Result<T>(std::move(part)));
}

// A list of entries of the file `path`. What an earlier file has stays.
template <typename T, typename ReadOne>
Status ReadNamed(const ConfigField& list,
                 std::string_view member,
                 const std::string& path,
                 Kubeconfig::Named<T>& into,
                 const ReadOne& read) {
  Kubeconfig::Named<T> of_file;
  Status status = list.ForEachItem([&](const ConfigField& item) -> Status {
    TRY_ASSIGN(auto entry, (ReadEntry<T>(item, member, read)));
    if (!entry.second) {
      entry.second = tl::unexpected(std::move(entry.second).error().Context(path));
    }
    if (!of_file.insert(std::move(entry)).second) return item.Bad("a name that is new");
    return {};
  });
  into.merge(of_file);
  return status;
}

Status ReadFile(const ConfigField& at, const std::string& path, Kubeconfig& into) {
  std::string current;
  TRY(at.ForEachMember([&](std::string_view key, const ConfigField& field) -> Status {
    if (key == "current-context") return field.Read(current);
    if (key == "clusters") {
      return ReadNamed(
          field, "cluster", path, into.clusters, [&](const auto& f, ClusterConfig& out) {
            return ReadCluster(f, path, out);
          });
    }
    if (key == "users") {
      return ReadNamed(field, "user", path, into.users, [&](const auto& f, UserConfig& out) {
        return ReadUser(f, path, out);
      });
    }
    if (key == "contexts") {
      return ReadNamed(
          field, "context", path, into.contexts, [&](const auto& f, Kubeconfig::Context& out) {
            return ReadContext(f, path, out);
          });
    }
    return {};
  }));
  if (into.current.empty()) into.current = current;
  return {};
}

tl::unexpected<Error> Missing(std::string_view what,
                              const std::string& name,
                              const std::string& where) {
  return Fail(Code::kInvalidArgument, fmt::format("{}: there is no {} \"{}\"", where, what, name));
}

std::vector<std::string> Candidates(const ConnectionFlags& flags, const Surroundings& outside) {
  if (!flags.kubeconfig.empty()) return {flags.kubeconfig};
  std::vector<std::string> paths;
  const std::string list = outside.variable("KUBECONFIG").value_or("");
  for (const std::string_view path : Split(list, ':')) {
    if (!path.empty()) paths.emplace_back(path);
  }
  const auto home = outside.variable("HOME");
  if (paths.empty() && home && !home->empty()) paths.push_back(*home + "/.kube/config");
  return paths;
}

Result<ConnectionConfig> OwnCluster(const Surroundings& outside) {
  const std::string host = outside.variable("KUBERNETES_SERVICE_HOST").value_or("");
  const std::string port = outside.variable("KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port.empty()) {
    return Fail(Code::kNotFound,
                "no cluster: give --kubeconfig, set KUBECONFIG, or create ~/.kube/config");
  }
  ConnectionConfig config;
  config.origin = "the cluster of this pod";
  const bool is_ipv6 = host.find(':') != std::string::npos;
  config.cluster.server = "https://" + (is_ipv6 ? '[' + host + ']' : host) + ':' + port;
  config.cluster.ca.file = std::string(kAccount) + "ca.crt";
  config.user.token.file = std::string(kAccount) + "token";
  if (const auto ns = outside.read(std::string(kAccount) + "namespace")) {
    if (!Trim(*ns).empty()) config.ns = Trim(*ns);
  }
  return config;
}

}  // namespace

Surroundings SystemSurroundings() {
  Surroundings outside;
  outside.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  outside.read = [](const std::string& path) -> Result<std::string> {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      return Fail(Code::kNotFound, path + ": no such file");
    }
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || std::filesystem::is_directory(path, error) || !(text << file.rdbuf())) {
      return Fail(Code::kUnavailable, path + ": cannot be read");
    }
    return std::move(text).str();
  };
  return outside;
}

Result<Kubeconfig> ParseKubeconfigs(std::span<const ConfigText> texts) {
  Kubeconfig config;
  for (const ConfigText& source : texts) {
    if (!config.paths.empty()) config.paths += ':';
    config.paths += source.path;
    const auto count =
        objects::ForEachDocument(source.path, source.text, [&](const objects::Value& root) {
          return root.type() == objects::Value::Type::kNull
                     ? Status{}
                     : ReadFile(ConfigField("", root), source.path, config);
        });
    if (!count) return tl::unexpected(Error(count.error()).Context(source.path));
  }
  return config;
}

Result<ConnectionConfig> ChooseContext(const Kubeconfig& config, std::string_view context) {
  const std::string name = context.empty() ? config.current : std::string(context);
  if (name.empty()) {
    return Fail(Code::kInvalidArgument,
                config.paths + ": current-context is not set: choose one with --context");
  }
  const auto chosen = config.contexts.find(name);
  if (chosen == config.contexts.end()) return Missing("context", name, config.paths);
  TRY_ASSIGN(const Kubeconfig::Context found, chosen->second);
  ConnectionConfig connection;
  connection.origin = fmt::format("context {} of {}", name, found.path);
  const auto cluster = config.clusters.find(found.cluster);
  if (cluster == config.clusters.end()) return Missing("cluster", found.cluster, connection.origin);
  TRY_ASSIGN(connection.cluster, cluster->second);
  if (!found.user.empty()) {
    const auto user = config.users.find(found.user);
    if (user == config.users.end()) return Missing("user", found.user, connection.origin);
    TRY_ASSIGN(connection.user, user->second);
  }
  if (!found.ns.empty()) connection.ns = found.ns;
  if (connection.cluster.server.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: cluster {} has no server", connection.origin, found.cluster));
  }
  return connection;
}

Result<ConnectionConfig> FindConnection(const ConnectionFlags& flags, const Surroundings& outside) {
  std::vector<ConfigText> texts;
  for (const std::string& path : Candidates(flags, outside)) {
    Result<std::string> text = outside.read(path);
    if (text) {
      texts.push_back({path, std::move(*text)});
    } else if (!flags.kubeconfig.empty() || text.error().code != Code::kNotFound) {
      return tl::unexpected(std::move(text).error());
    }
  }
  Result<ConnectionConfig> connection = Fail(Code::kNotFound, "");
  if (texts.empty() && !flags.server.empty()) {
    connection = ConnectionConfig{};
    connection->origin = "--master";
  } else if (texts.empty()) {
    connection = OwnCluster(outside);
  } else {
    TRY_ASSIGN(const Kubeconfig config, ParseKubeconfigs(texts));
    connection = ChooseContext(config, flags.context);
  }
  if (connection && !flags.server.empty()) connection->cluster.server = flags.server;
  return connection;
}

Result<std::string> ReadText(const TextOrFile& from,
                             std::string_view field,
                             const Surroundings& outside) {
  if (!from.text.empty() || from.file.empty()) return from.text;
  Result<std::string> text = outside.read(from.file);
  if (!text) return tl::unexpected(std::move(text).error().Context(std::string(field)));
  return text;
}

}  // namespace strata::kube
