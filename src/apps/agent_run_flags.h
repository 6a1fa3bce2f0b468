#pragma once

#include <string>

#include "agent/gpu_watch.h"
#include "device_plugin/device_plugin.h"
#include "kube/kubeconfig.h"

namespace CLI {
class App;
}

namespace strata {

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
  bool cdi = false;
  bool publish_only = false;
  bool take_over = false;
  std::string state_folder = "/var/lib/strata-agent";
  std::string pages;      // "": none
  int driver_limit = 60;  // seconds
  int verbosity = 0;
};

// The values before the command line is parsed are the defaults; the help text shows them.
CLI::App& AddAgentRunCommand(CLI::App& app, AgentRunFlags& flags);
CLI::App& AddAgentWithdrawCommand(CLI::App& app, AgentRunFlags& flags);

}  // namespace strata
