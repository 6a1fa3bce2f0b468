// strata-agent: what runs on a node. `run` is the daemon, `probe` shows the machine's GPUs and
// their links, `withdraw` takes back what the daemon wrote on the Node.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "agent/allocate_answer.h"
#include "agent/node_agent.h"
#include "apps/agent_probe.h"
#include "apps/agent_run_flags.h"
#include "apps/help_format.h"
#include "component/component.h"
#include "device_plugin/gpu_agent.h"
#include "kube/connection.h"

namespace strata {
namespace {

constexpr const char* kVersion = STRATA_VERSION;

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::optional<agent::FabricOptions> FabricOf(const AgentRunFlags& flags) {
  if (flags.no_fabric) return std::nullopt;
  agent::FabricOptions options;
  options.sysfs = flags.gpus.sysfs;
  std::istringstream words(flags.lldp_command);
  for (std::string word; words >> word;) options.lldp_command.push_back(word);
  return options;
}

// HAMi-core keeps containers to their share: without it limits would not hold, so nobody shares.
bool HasHamiCore(const std::string& hook) {
  return Exists(hook + "/vgpu/libvgpu.so");
}

device_plugin::GpuAgent::Options OptionsOf(const AgentRunFlags& flags, kube::Client* kubelet) {
  device_plugin::GpuAgent::Options options;
  const bool shares = HasHamiCore(flags.hook);
  options.node_agent.node = flags.node;
  options.node_agent.version = kVersion;
  options.node_agent.gpus = flags.gpus;
  options.node_agent.gpus.shares = shares ? flags.shares : 1;
  options.node_agent.take_over = flags.take_over;
  options.node_agent.driver_limit = std::chrono::seconds(flags.driver_limit);
  options.node_agent.state_folder = flags.state_folder;
  options.plugin = flags.plugin;
  options.plugin.node = flags.node;
  options.plugin.journal = flags.state_folder + "/journal";
  if (shares) {
    options.plugin.answer.shares.emplace();
    options.plugin.answer.shares->hook = flags.hook;
  }
  if (flags.cdi) options.plugin.answer.strategy = agent::AnswerOptions::Strategy::kCdi;
  options.node_agent.fabric = FabricOf(flags);
  if (flags.numa) options.plugin.numa = agent::OfferNuma::kYes;
  for (const std::string& path : agent::SharedDeviceNodes()) {
    if (Exists(path)) options.plugin.answer.common_device_nodes.push_back(path);
  }
  options.publish_only = flags.publish_only;
  options.kubelet = kubelet;
  return options;
}

// None where the kubelet is not to be asked.
Result<std::unique_ptr<kube::Connection>> ConnectToKubelet(const AgentRunFlags& flags) {
  if (flags.kubelet.address.empty() || flags.publish_only.value_or(false)) return nullptr;
  const kube::Surroundings outside = kube::SystemSurroundings();
  TRY_ASSIGN(const kube::ConnectionConfig config, kube::FindConnection(flags.connection, outside));
  kube::ConnectionOptions options;
  options.user_agent = "strata-agent";
  return kube::Connection::Open(KubeletConnection(flags.kubelet, config), options, outside);
}

int RunAgent(const AgentRunFlags& flags) {
  const auto kubelet = ConnectToKubelet(flags);
  if (!kubelet) {
    fmt::print(stderr, "strata-agent: {}\n", kubelet.error().message);
    return 1;
  }
  kube::Client* kubelet_client = *kubelet == nullptr ? nullptr : &(*kubelet)->client();
  ComponentOptions options;
  options.connection = flags.connection;
  options.verbosity = flags.verbosity;
  options.metrics = !flags.pages.empty();
  options.metrics_address = flags.pages;
  options.metrics_address_given = true;
  return RunComponent("agent", options, [&](kube::Client& client, obs::Log& log) {
    return ComponentOf(std::make_shared<device_plugin::GpuAgent>(
        client, OptionsOf(flags, kubelet_client), log, kube::SystemClock()));
  });
}

Status RunWithdraw(const AgentRunFlags& flags) {
  const kube::Surroundings outside = kube::SystemSurroundings();
  TRY_ASSIGN(const kube::ConnectionConfig config, kube::FindConnection(flags.connection, outside));
  kube::ConnectionOptions options;
  options.user_agent = "strata-agent";
  TRY_ASSIGN(const std::unique_ptr<kube::Connection> connection,
             kube::Connection::Open(config, options, outside));
  return agent::Withdraw(connection->client(), flags.node);
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

int BadUsage(const std::string& problem) {
  fmt::print(stderr, "strata-agent: {} (see strata-agent --help)\n", problem);
  return 2;
}

int Main(int argc, char** argv) {
  CLI::App app("What runs on a node with GPUs", "strata-agent");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", std::string("strata-agent ") + kVersion);
  app.require_subcommand(1);
  AgentRunFlags flags;
  flags.node = HostName();
  CLI::App& run = AddAgentRunCommand(app, flags);
  CLI::App& withdraw = AddAgentWithdrawCommand(app, flags);
  app.add_subcommand("probe", "Show the GPUs of this machine and their links");
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (!command.empty() && command[0] != '-' && command != "run" && command != "withdraw") {
    return BadUsage(fmt::format("unknown command \"{}\"", command));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    return asked ? app.exit(error) : BadUsage(error.what());
  }
  if (run.parsed() && flags.state_folder.empty() && !flags.publish_only.value_or(false)) {
    return BadUsage(
        "--state-dir is needed without --publish-only: which container has which GPU is kept "
        "there");
  }
  if (run.parsed()) return RunAgent(flags);
  if (!withdraw.parsed()) return BadUsage("probe takes no flags before it");
  const Status withdrawn = RunWithdraw(flags);
  if (withdrawn) return 0;
  fmt::print(stderr, "strata-agent: {}\n", withdrawn.error().message);
  return 1;
}

}  // namespace
}  // namespace strata

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "probe") {
    return strata::RunProbe(std::span(arguments).subspan(1));
  }
  return strata::Main(argc, argv);
}
