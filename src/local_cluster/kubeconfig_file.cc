#include "local_cluster/kubeconfig_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "objects/yaml_writer.h"
#include "store/system_failure.h"

namespace strata {
namespace {

using store::SystemFailure;

std::string Environment(const char* variable) {
  // Called before any thread could change the environment.
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

Status WriteAll(int file, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0) return SystemFailure(path);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

std::string RenderKubeconfig(const ServerAccess& access) {
  using OrderedJson = nlohmann::ordered_json;
  OrderedJson cluster = {{"server", access.url}};
  if (!access.ca_pem.empty()) {
    cluster["certificate-authority-data"] = EncodeBase64(access.ca_pem);
  }
  OrderedJson user = OrderedJson::object();
  if (!access.token.empty()) user["token"] = access.token;
  const auto named = [](const char* what, OrderedJson value) {
    return OrderedJson::array({{{"name", "strata"}, {what, std::move(value)}}});
  };
  return objects::WriteYaml(
      {{"apiVersion", "v1"},
       {"kind", "Config"},
       {"clusters", named("cluster", std::move(cluster))},
       {"users", named("user", std::move(user))},
       {"contexts", named("context", {{"cluster", "strata"}, {"user", "strata"}})},
       {"current-context", "strata"}});
}

Result<std::string> DefaultKubeconfigPath() {
  std::string state = Environment("XDG_STATE_HOME");
  if (state.empty()) {
    const std::string home = Environment("HOME");
    if (home.empty()) {
      return Fail(Code::kNotFound,
                  "cannot choose a path for the kubeconfig: HOME is not set (use --kubeconfig)");
    }
    state = home + "/.local/state";
  }
  return state + "/strata/kubeconfig";
}

Status WritePrivateFile(const std::string& path, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return Fail(Code::kUnavailable, folder.string() + ": " + error.message());
  // A reader finds the old file or the new one, never a part, nor one that others could open.
  const std::string draft = path + ".new";
  unlink(draft.c_str());
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, store::kOwnerOnly);
  if (file < 0) return SystemFailure(draft);
  Status status = WriteAll(file, draft, text);
  close(file);
  if (status && std::rename(draft.c_str(), path.c_str()) != 0) status = SystemFailure(path);
  if (!status) unlink(draft.c_str());
  return status;
}

}  // namespace strata
