#pragma once

#include <optional>
#include <string>

#include "agent/gpu_watch.h"
#include "device_plugin/device_plugin.h"
#include "kube/kubeconfig.h"

namespace CLI {
class App;
}

namespace strata {

// How the kubelet of this machine is asked for its pods over HTTPS.
struct KubeletFlags {
  std::string address;  // "https://10.0.0.7:10250"; "": it is not asked
  std::string ca;       // a file; "": that of the API server
  std::string token;    // a file; "": the credentials for the API server
  bool skip_tls_verify = false;
};

// The flags of `strata-agent run` and `strata-agent withdraw`.
struct AgentRunFlags {
  kube::ConnectionFlags connection;
  std::string node;  // the name of the Node
  agent::GpuWatch::Options gpus;
  int shares = 10;  // containers that may have a GPU together, with HAMi-core's library
  device_plugin::DevicePluginOptions plugin;
  std::string hook = "/usr/local";
  bool no_fabric = false;
  std::string lldp_command;  // program and arguments, apart by blanks
  KubeletFlags kubelet;
  bool cdi = false;
  bool numa = false;
  std::optional<bool> publish_only;  // not set: as the node has NVIDIA's DRA driver or not
  bool take_over = false;
  std::string state_folder = "/var/lib/strata-agent";
  std::string pages;      // "": none
  int driver_limit = 60;  // seconds
  int verbosity = 0;
};

// The values before the command line is parsed are the defaults; the help text shows them.
CLI::App& AddAgentRunCommand(CLI::App& app, AgentRunFlags& flags);
// The connection to the kubelet, made from that to the API server.
[[nodiscard]] kube::ConnectionConfig KubeletConnection(const KubeletFlags& flags,
                                                       const kube::ConnectionConfig& api_server);

CLI::App& AddAgentWithdrawCommand(CLI::App& app, AgentRunFlags& flags);

}  // namespace strata
