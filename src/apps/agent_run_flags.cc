#include "apps/agent_run_flags.h"

#include <CLI/CLI.hpp>

#include "component/debug_pages.h"

namespace strata {
namespace {

constexpr const char* kRunFooter = R"(
Follows the NVIDIA GPUs of this machine through the driver, and keeps the annotations of its Node
true: GPUs, links and health in HAMi's words, and strata.sh/agent for Strata. An unhealthy GPU gets
no new pods, and an Event on the Node says why.

As a device plugin it gives each container the GPUs that the scheduler chose for it.

Examples:
  strata-agent run --node-name gpu-17 --pages :9090
  strata-agent run --kubeconfig ~/.kube/config --state-dir /tmp/agent)";

constexpr const char* kWithdrawFooter = R"(
Removes the annotations and labels that an agent wrote on the Node. Pods that run are not touched.

Example:
  strata-agent withdraw --node-name gpu-17)";

void AddNodeFlags(CLI::App& command, AgentRunFlags& flags) {
  command
      .add_option("--kubeconfig",
                  flags.connection.kubeconfig,
                  "The kubeconfig of the cluster; default: $KUBECONFIG, ~/.kube/config, or the "
                  "service account of the pod")
      ->type_name("FILE");
  command.add_option("--context", flags.connection.context, "A context of the kubeconfig")
      ->type_name("NAME");
  command
      .add_option("--node-name",
                  flags.node,
                  "The Node of this machine; default: $NODE_NAME, or the host name " + flags.node)
      ->envname("NODE_NAME")
      ->type_name("NAME");
}

void AddPluginFlags(CLI::App& command, AgentRunFlags& flags) {
  command.add_flag("--publish-only",
                   flags.publish_only,
                   "Leave GPUs to another device plugin, such as NVIDIA's");
  command
      .add_option("--shares",
                  flags.shares,
                  "Containers that may share a GPU where HAMi-core is installed; default: 10")
      ->type_name("N")
      ->check(CLI::Range(1, 1000).description(""));
  command
      .add_option("--hook-path",
                  flags.hook,
                  "HAMi-core's library is vgpu/libvgpu.so below it; default: " + flags.hook)
      ->type_name("DIR");
  command.add_flag("--cdi",
                   flags.cdi,
                   "Name GPUs to the container runtime by CDI instead of NVIDIA_VISIBLE_DEVICES");
  command
      .add_option("--device-plugin-dir",
                  flags.plugin.registrar.folder,
                  "The kubelet's folder of sockets; default: " + flags.plugin.registrar.folder)
      ->type_name("DIR");
  command
      .add_option("--pods-api",
                  flags.plugin.pods_api_socket,
                  "The kubelet's Pods API; default: " + flags.plugin.pods_api_socket)
      ->type_name("SOCKET");
  command
      .add_option("--pod-resources",
                  flags.plugin.pod_resources_socket,
                  "The kubelet's podresources; default: " + flags.plugin.pod_resources_socket)
      ->type_name("SOCKET");
}

void AddFabricFlags(CLI::App& command, AgentRunFlags& flags) {
  command.add_flag("--no-fabric",
                   flags.no_fabric,
                   "Do not publish what this machine sees of the network (strata.sh/fabric)");
  command
      .add_option("--lldp-command",
                  flags.lldp_command,
                  "Publish the LLDP neighbours that it prints, such as \"lldpctl -f json0\"; "
                  "default: none")
      ->type_name("COMMAND");
}

}  // namespace

CLI::App& AddAgentRunCommand(CLI::App& app, AgentRunFlags& flags) {
  CLI::App& command =
      *app.add_subcommand("run", "Hand GPUs to containers, and keep the Node up to date");
  command.footer(kRunFooter);
  AddNodeFlags(command, flags);
  command
      .add_option(
          "--state-dir",
          flags.state_folder,
          "Keeps errors of GPUs, and which container has which; default: " + flags.state_folder)
      ->type_name("DIR");
  command
      .add_option("--pages",
                  flags.pages,
                  "Serve /metrics, /healthz, /livez and /readyz there; default: nowhere")
      ->type_name("ADDRESS:PORT")
      ->check([](const std::string& text) {
        const auto address = ParsePagesAddress(text);
        return address ? std::string() : address.error().message;
      });
  command
      .add_option(
          "--ignore-xids",
          "XIDs that leave a GPU healthy, besides 13, 31, 43, 45, 68 and 109, such as 63,94")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->each([&flags](const std::string& xid) {
        flags.gpus.health.ignored_xids.insert(std::stoull(xid));
      });
  command.add_flag("--take-over",
                   flags.take_over,
                   "Also register GPUs that another agent, such as HAMi's, has registered");
  command
      .add_option("--driver-limit",
                  flags.driver_limit,
                  "/livez fails when a call of the driver takes longer; default: 60")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 3600).description(""));
  command.add_option("--nvml", flags.gpus.nvml, "The library to load; default: libnvidia-ml.so.1")
      ->type_name("FILE");
  command.add_option("--sysfs", flags.gpus.sysfs, "Where to read NUMA nodes; default: /sys")
      ->type_name("DIR");
  AddPluginFlags(command, flags);
  AddFabricFlags(command, flags);
  command.add_option("-v,--v", flags.verbosity, "Log verbosity, 0 to 5; default: 0")
      ->type_name("LEVEL")
      ->check(CLI::Range(0, 10).description(""));
  return command;
}

CLI::App& AddAgentWithdrawCommand(CLI::App& app, AgentRunFlags& flags) {
  CLI::App& command = *app.add_subcommand("withdraw", "Take back what an agent wrote on the Node");
  command.footer(kWithdrawFooter);
  AddNodeFlags(command, flags);
  return command;
}

}  // namespace strata
