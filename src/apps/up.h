#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/flags.h"
#include "base/result.h"
#include "virtual_nodes/generate.h"

namespace strata {

struct UpFlags {
  ServerFlags server;
  std::optional<virtual_nodes::GenerateSpec> generate;
  std::vector<std::string> files;  // -f
  std::string scheduler_conf;      // "": the ConfigMap
  std::string controller_conf;     // "": the ConfigMap
  std::string scheduler_pages;     // where its /metrics and so on are; "": nowhere
  std::string controllers_pages;   // the same
  std::optional<int> verbosity;    // none: Volcano's usual one, and nothing on standard error
};

// A whole cluster in this process, until a signal: the API server on the calling thread, and each
// part beside it on a thread and a connection of its own. Prints the ready line once what the flags
// give is in and every part has seen it.
[[nodiscard]] Status RunCluster(const UpFlags& flags);

}  // namespace strata
