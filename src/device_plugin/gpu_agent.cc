#include "device_plugin/gpu_agent.h"

#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "device_plugin/http_pods.h"
#include "obs/metric_families.h"

namespace strata::device_plugin {
namespace {

obs::Families FamiliesOf(const DevicePlugin& plugin) {
  obs::Families families;
  auto& connected = families.emplace_back(obs::GaugeFamily(
      "strata_agent_kubelet_connected", "1 while the kubelet watches the devices of the agent"));
  obs::AddSample(connected, {}, plugin.status().connected ? 1 : 0);
  auto& registrations = families.emplace_back(
      obs::CounterFamily("strata_agent_registrations_total", "Registrations with the kubelet"));
  obs::AddSample(registrations, {}, static_cast<double>(plugin.status().registrations));
  const AllocationCounters counters = plugin.counters();
  auto& served = families.emplace_back(obs::CounterFamily(
      "strata_agent_allocations_total", "Containers that asked for GPUs, by what they got"));
  obs::AddSample(
      served, {{"result", "served"}}, static_cast<double>(counters.served - counters.again));
  obs::AddSample(served, {{"result", "again"}}, static_cast<double>(counters.again));
  obs::AddSample(served, {{"result", "refused"}}, static_cast<double>(counters.refused));
  const auto add = [&](const char* name, const char* help, std::int64_t value) {
    obs::AddSample(
        families.emplace_back(obs::CounterFamily(name, help)), {}, static_cast<double>(value));
  };
  add("strata_agent_ambiguous_total",
      "Requests that several pods may have made",
      counters.ambiguous);
  add("strata_agent_ids_differ_total",
      "Containers whose record named other GPUs than their ids",
      counters.ids_differ);
  add("strata_agent_differences_total",
      "Differences between the journal and podresources",
      counters.differences);
  return families;
}

}  // namespace

GpuAgent::GpuAgent(kube::Client& client, Options options, obs::Log& log, const Clock& clock)
    : client_(client),
      options_(std::move(options)),
      log_(log),
      clock_(clock),
      effects_(client, options_.node_agent.node, log, clock) {}

agent::NodeAgent::Options GpuAgent::NodeAgentOptions(Duty duty) const {
  agent::NodeAgent::Options with_hooks = options_.node_agent;
  if (duty == Duty::kPublish) {
    with_hooks.gpus.shares = 1;  // limits come with the answers of our plugin
  }
  with_hooks.identity = [this] {
    const auto now = plugin();
    return now ? now->identity() : std::string("none");
  };
  with_hooks.obstacle = [this] {
    const auto now = plugin();
    const RegistrarStatus status = now ? now->status() : RegistrarStatus{};
    return status.foreign_plugin ? status.problem : std::string();
  };
  with_hooks.machine_changed = [this] {
    if (const auto now = plugin()) now->MachineChanged();
  };
  return with_hooks;
}

// Beside the Pods API, which DevicePlugin asks first.
DevicePlugin::Sources GpuAgent::Sources() const {
  const std::string& resource = options_.plugin.registrar.resource;
  DevicePlugin::Sources sources;
  if (options_.kubelet != nullptr) {
    sources.push_back(
        std::make_unique<JsonPodSource>("pods", resource, FetchFromKubelet(*options_.kubelet)));
  }
  sources.push_back(std::make_unique<JsonPodSource>(
      "lock", resource, FetchFromApiServer(client_, options_.node_agent.node)));
  return sources;
}

Result<std::shared_ptr<DevicePlugin>> GpuAgent::StartPlugin(agent::NodeAgent& node_agent) {
  const std::filesystem::path folder = std::filesystem::path(options_.plugin.journal).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Fail(Code::kUnavailable, folder.string() + ": " + error.message());
  const auto machine = [&node_agent] {
    agent::MachineView view = node_agent.machine();
    return view->node.gpus.empty() ? nullptr : view;
  };
  TRY_ASSIGN(
      std::unique_ptr<DevicePlugin> started,
      DevicePlugin::Start(options_.plugin,
                          Sources(),
                          {.machine = machine, .effects = effects_, .clock = clock_, .log = log_}));
  return std::shared_ptr<DevicePlugin>(std::move(started));
}

Status GpuAgent::Work(Duty duty, const std::stop_token& stop) {
  Parts parts{.duty = duty,
              .node_agent =
                  std::make_shared<agent::NodeAgent>(client_, NodeAgentOptions(duty), log_, clock_),
              .plugin = nullptr};
  if (duty == Duty::kPublishAndServe) {
    TRY_ASSIGN(parts.plugin, StartPlugin(*parts.node_agent));
  }
  {
    const MutexLock lock(mutex_);
    parts_ = parts;
  }
  Status ended = parts.node_agent->Run(stop);
  {
    const MutexLock lock(mutex_);
    parts_ = Parts{};
  }
  parts.plugin.reset();  // it asks the node agent
  return ended;
}

// Until the answer of `slices` is another one.
Status GpuAgent::WorkWhile(DraSlices::Found found, DraSlices& slices, const std::stop_token& stop) {
  std::stop_source over;
  const std::stop_callback pass_on(stop, [&over] { over.request_stop(); });
  const std::jthread watcher([&](const std::stop_token& ended) {
    if (slices.WaitForChange(found, ended)) over.request_stop();
  });
  const bool claims = found == DraSlices::Found::kSome;
  if (claims) {
    log_.Info("NVIDIA's DRA driver publishes the GPUs of this node: containers are left to it");
  }
  return Work(claims ? Duty::kPublish : Duty::kPublishAndServe, over.get_token());
}

Status GpuAgent::Run(const std::stop_token& stop) {
  if (options_.publish_only) {
    return Work(*options_.publish_only ? Duty::kPublish : Duty::kPublishAndServe, stop);
  }
  DraSlices slices(client_, options_.node_agent.node, options_.look_for_slices, log_);
  while (!stop.stop_requested()) {
    const auto found = slices.Ask(stop);
    if (!found) break;
    TRY(WorkWhile(*found, slices, stop));
  }
  return {};
}

std::string GpuAgent::Metrics() const {
  const Parts now = parts();
  std::string text = now.node_agent ? now.node_agent->Metrics() : "";
  if (now.plugin) text += obs::MetricsText(FamiliesOf(*now.plugin));
  return text;
}

bool GpuAgent::IsReady() const {
  const Parts now = parts();
  if (!now.node_agent || !now.node_agent->IsReady()) return false;
  return now.duty == Duty::kPublish || (now.plugin && now.plugin->status().connected);
}

std::string GpuAgent::LateThread() const {
  const Parts now = parts();
  return now.node_agent ? now.node_agent->LateThread() : "";
}

}  // namespace strata::device_plugin
