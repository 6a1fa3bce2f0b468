#include "device_plugin/gpu_agent.h"

#include <filesystem>
#include <system_error>
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
      effects_(client, options_.node_agent.node, log, clock),
      node_agent_(
          client,
          [this] {
            agent::NodeAgent::Options with_hooks = options_.node_agent;
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
          }(),
          log,
          clock) {}

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

Status GpuAgent::Run(const std::stop_token& stop) {
  if (!options_.publish_only) {
    const std::filesystem::path folder =
        std::filesystem::path(options_.plugin.journal).parent_path();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return Fail(Code::kUnavailable, folder.string() + ": " + error.message());
    const auto machine = [this] {
      agent::MachineView view = node_agent_.machine();
      return view->node.gpus.empty() ? nullptr : view;
    };
    TRY_ASSIGN(std::unique_ptr<DevicePlugin> started,
               DevicePlugin::Start(
                   options_.plugin,
                   Sources(),
                   {.machine = machine, .effects = effects_, .clock = clock_, .log = log_}));
    const MutexLock lock(mutex_);
    plugin_ = std::move(started);
  }
  Status ended = node_agent_.Run(stop);
  const std::shared_ptr<DevicePlugin> last = [this] {
    const MutexLock lock(mutex_);
    return std::exchange(plugin_, nullptr);
  }();
  return ended;
}

std::string GpuAgent::Metrics() const {
  std::string text = node_agent_.Metrics();
  if (const auto now = plugin()) text += obs::MetricsText(FamiliesOf(*now));
  return text;
}

bool GpuAgent::IsReady() const {
  if (!node_agent_.IsReady()) return false;
  const auto now = plugin();
  return options_.publish_only || (now && now->status().connected);
}

}  // namespace strata::device_plugin
