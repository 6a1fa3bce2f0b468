#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "local_cluster/embedded_api_server.h"
#include "objects/load.h"
#include "virtual_nodes/generate.h"

namespace strata {

struct LocalClusterSettings {
  ServerSettings server;
  std::optional<virtual_nodes::GenerateSpec> generate;
  std::vector<std::string> files;                       // manifests to apply
  objects::OnFault on_fault = objects::OnFault::kFail;  // of the manifests
  std::string scheduler_conf;                           // "": the ConfigMap
  std::string controller_conf;                          // "": the ConfigMap
  std::string scheduler_pages;    // address of its debug pages; "": none are served
  std::string controllers_pages;  // likewise
  std::string page;               // address of the page (src/page), a loopback one; "": none
  std::optional<int> verbosity;   // none: Volcano's usual verbosity, and no log on standard error
};

// Runs a whole cluster in this process until a signal: the API server on the calling thread, and
// each other part (scheduler, controllers, virtual nodes) on a thread with a connection of its own.
// Prints the ready line once the objects of `settings` are stored and every part has seen them. The
// URL of the page goes to standard error, and into the file `page` beside the kubeconfig.
[[nodiscard]] Status RunLocalCluster(const LocalClusterSettings& settings);

}  // namespace strata
