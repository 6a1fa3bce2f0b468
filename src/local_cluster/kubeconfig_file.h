#pragma once

#include <string>

#include "base/result.h"

namespace strata {

// How clients reach an API server, and authenticate.
struct ServerAccess {
  std::string url;     // "https://127.0.0.1:8443"
  std::string ca_pem;  // "" for plain HTTP
  std::string token;   // "" for none
};

// A kubeconfig with one cluster, user and context, all named strata.
[[nodiscard]] std::string RenderKubeconfig(const ServerAccess& access);

// strata/kubeconfig in $XDG_STATE_HOME, else in ~/.local/state. kNotFound when neither it nor $HOME
// is set.
[[nodiscard]] Result<std::string> DefaultKubeconfigPath();

}  // namespace strata
