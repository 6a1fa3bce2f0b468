#include "apps/agent_run_flags.h"

#include <CLI/CLI.hpp>

#include "agent/cdi_names.h"
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

CLI::Validator CheckedBy(std::string (*problem)(std::string_view)) {
  return CLI::Validator([problem](const std::string& text) { return problem(text); }, "");
}

// What a container is given beside its GPUs, and how.
void AddAnswerFlags(CLI::App& command, AgentRunFlags& flags) {
  agent::AnswerOptions& answer = flags.plugin.answer;
  CLI::Option* cdi = command.add_flag(
      "--cdi",
      flags.cdi,
      "Name GPUs to the container runtime by CDI instead of NVIDIA_VISIBLE_DEVICES");
  command
      .add_option(
          "--cdi-vendor",
          answer.cdi_vendor,
          "The vendor of CDI names; nvidia-ctk writes nvidia.com; default: " + answer.cdi_vendor)
      ->type_name("NAME")
      ->needs(cdi)
      ->check(CheckedBy(agent::ProblemOfCdiVendor));
  command
      .add_option("--cdi-class",
                  answer.cdi_class,
                  "The class of GPUs in CDI names; default: " + answer.cdi_class)
      ->type_name("NAME")
      ->needs(cdi)
      ->check(CheckedBy(agent::ProblemOfCdiClass));
  command
      .add_option("--cdi-dirs",
                  flags.plugin.cdi_folders,
                  "Where CDI names are defined, to be checked; default: /etc/cdi,/var/run/cdi")
      ->type_name("LIST")
      ->delimiter(',')
      ->needs(cdi);
  command.add_flag("--device-nodes",
                   answer.pass_device_nodes,
                   "Also give containers /dev/nvidia*, for runtimes that do not add them");
  command.add_flag("--gdrcopy", answer.gdrcopy, "Give containers with GPUs GDRCopy");
  command.add_flag("--gds", answer.gds, "Give containers with GPUs GPUDirect Storage");
  command.add_flag("--mofed", answer.mofed, "Give containers with GPUs the Mellanox devices");
  command
      .add_option("--imex-channels",
                  answer.imex_channels,
                  "IMEX channels of containers with GPUs, such as 0; default: none")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(CLI::Range(0, 2047).description(""));
}

void AddKubeletFlags(CLI::App& command, KubeletFlags& flags) {
  CLI::Option* address =
      command.add_option("--kubelet",
                         flags.address,
                         "Ask the kubelet there for its pods where it has no Pods API, such as "
                         "https://10.0.0.7:10250; default: ask the API server");
  address->type_name("URL")->check([](const std::string& text) {
    const bool good = text.starts_with("https://") || text.starts_with("http://");
    return good ? std::string() : "\"" + text + "\" is not an address (want https://...)";
  });
  CLI::Option* ca = command.add_option("--kubelet-ca",
                                       flags.ca,
                                       "Certificates that the kubelet's is signed with; default: "
                                       "those of the API server");
  ca->type_name("FILE")->needs(address);
  command
      .add_option("--kubelet-token",
                  flags.token,
                  "A token for the kubelet; default: the credentials for the API server")
      ->type_name("FILE")
      ->needs(address);
  command
      .add_flag("--kubelet-skip-tls-verify",
                flags.skip_tls_verify,
                "Do not check the kubelet's certificate, which many kubelets sign themselves")
      ->needs(address)
      ->excludes(ca);
}

void AddPluginFlags(CLI::App& command, AgentRunFlags& flags) {
  command.add_flag("--publish-only",
                   flags.publish_only,
                   "Leave GPUs to another device plugin, such as NVIDIA's; default: only where "
                   "NVIDIA's DRA driver publishes them (--publish-only=false: never)");
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
  command.add_flag(
      "--numa", flags.numa, "Tell the kubelet the NUMA node of each GPU, for its topology manager");
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
  AddAnswerFlags(command, flags);
  AddKubeletFlags(command, flags.kubelet);
  command.add_option("-v,--v", flags.verbosity, "Log verbosity, 0 to 5; default: 0")
      ->type_name("LEVEL")
      ->check(CLI::Range(0, 10).description(""));
  return command;
}

kube::ConnectionConfig KubeletConnection(const KubeletFlags& flags,
                                         const kube::ConnectionConfig& api_server) {
  kube::ConnectionConfig config = api_server;
  config.cluster.server = flags.address;
  config.cluster.tls_server_name.clear();
  config.cluster.proxy.clear();
  config.cluster.skip_tls_verify = flags.skip_tls_verify;
  if (flags.skip_tls_verify) config.cluster.ca = {};
  if (!flags.ca.empty()) config.cluster.ca = {.text = {}, .file = flags.ca};
  if (!flags.token.empty()) {
    config.user = {};
    config.user.token.file = flags.token;
  }
  config.origin = "the kubelet " + flags.address;
  return config;
}

CLI::App& AddAgentWithdrawCommand(CLI::App& app, AgentRunFlags& flags) {
  CLI::App& command = *app.add_subcommand("withdraw", "Take back what an agent wrote on the Node");
  command.footer(kWithdrawFooter);
  AddNodeFlags(command, flags);
  return command;
}

}  // namespace strata
