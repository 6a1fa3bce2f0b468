#include "local_cluster/kubeconfig_file.h"

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "objects/yaml_writer.h"

namespace strata {
namespace {

std::string Environment(const char* variable) {
  // Called before any thread could change the environment.
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
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

}  // namespace strata
