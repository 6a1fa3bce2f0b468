#include "device_plugin/device_plugin.h"

#include <pthread.h>

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/cdi_names.h"
#include "device_plugin/pod_resources.h"
#include "device_plugin/pods_api.h"

namespace strata::device_plugin {
namespace {

DeviceList ToDeviceList(const NodeGpus& node, agent::OfferNuma numa) {
  auto list = std::make_shared<v1beta1::ListAndWatchResponse>();
  for (const agent::OfferedDevice& device : agent::DevicesOf(node, numa)) {
    v1beta1::Device& out = *list->add_devices();
    out.set_id(device.id);
    out.set_health(device.healthy ? "Healthy" : "Unhealthy");
    if (device.numa) out.mutable_topology()->add_nodes()->set_id(*device.numa);
  }
  return list;
}

DevicePlugin::Sources WithPodsApi(const DevicePluginOptions& options, DevicePlugin::Sources more) {
  DevicePlugin::Sources sources;
  sources.push_back(std::make_unique<PodsApi>(options.pods_api_socket, options.registrar.resource));
  for (auto& source : more) sources.push_back(std::move(source));
  return sources;
}

}  // namespace

Result<std::unique_ptr<DevicePlugin>> DevicePlugin::Start(DevicePluginOptions options,
                                                          Sources more_sources,
                                                          Outside outside) {
  TRY_ASSIGN(std::unique_ptr<agent::JournalFile> journal,
             agent::JournalFile::Open(options.journal));
  Sources sources = WithPodsApi(options, std::move(more_sources));
  std::unique_ptr<DevicePlugin> plugin(new DevicePlugin(
      std::move(options), std::move(sources), std::move(journal), std::move(outside)));
  plugin->MachineChanged();
  return plugin;
}

DevicePlugin::DevicePlugin(DevicePluginOptions options,
                           Sources sources,
                           std::unique_ptr<agent::JournalFile> journal,
                           Outside outside)
    : options_(std::move(options)), outside_(std::move(outside)) {
  allocations_ = std::make_unique<Allocations>(
      AllocationOptions{
          .node = options_.node, .answer = options_.answer, .source_limit = options_.source_limit},
      std::move(sources),
      std::move(journal),
      Allocations::Outside{.machine = outside_.machine,
                           .effects = outside_.effects,
                           .clock = outside_.clock,
                           .log = outside_.log});
  registrar_ = std::make_unique<Registrar>(
      options_.registrar, *allocations_, [this] { return RebuildJournal(); }, outside_.log);
  reconciler_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "plugin-reconc");
    ReconcileUntilStopped();
  });
}

DevicePlugin::~DevicePlugin() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  stopped_.NotifyAll();
  reconciler_.join();
  registrar_.reset();  // its server uses allocations_
}

void DevicePlugin::MachineChanged() {
  const agent::MachineView machine = outside_.machine();
  if (machine == nullptr) return;
  CheckCdi(*machine);
  registrar_->SetDevices(ToDeviceList(machine->node, options_.numa));
}

// The files may come later than the agent, and go: devices are offered all the same.
void DevicePlugin::CheckCdi(const agent::Machine& machine) {
  const std::vector<std::string> names = agent::CdiNamesOf(machine, options_.answer);
  if (names.empty()) return;
  agent::CdiCheck check = agent::CheckCdiNames(names, options_.cdi_folders);
  const std::string missing = fmt::format("{}", fmt::join(check.missing, ", "));
  {
    const MutexLock lock(mutex_);
    if (cdi_problem_ == missing) return;
    cdi_problem_ = missing;
  }
  if (missing.empty()) return outside_.log.Info("all CDI names are defined");
  outside_.log.Error("CDI names are not defined: the runtime will refuse containers that get them",
                     {{"missing", missing},
                      {"folders", fmt::format("{}", fmt::join(options_.cdi_folders, ", "))},
                      {"unreadable", fmt::format("{}", fmt::join(check.problems, "; "))}});
}

Status DevicePlugin::ReconcileNow() {
  TRY_ASSIGN(
      const std::vector<agent::HeldDevices> held,
      ListHeldDevices(
          options_.pod_resources_socket, options_.registrar.resource, options_.reconcile_limit));
  return allocations_->Reconcile(held,
                                 allocations_->journal_incomplete()
                                     ? Allocations::Reports::kNoAdopted
                                     : Allocations::Reports::kAll);
}

// Before the kubelet can ask for anything: containers that it knows must not look unserved.
// A kubelet that does not show them at all is taken as it is after some tries.
Status DevicePlugin::RebuildJournal() {
  constexpr int kMaxTries = 5;
  if (!allocations_->journal_incomplete() || rebuild_tries_ >= kMaxTries) return {};
  const Status rebuilt = ReconcileNow();
  if (rebuilt) {
    outside_.log.Info("journal rebuilt from podresources");
    return {};
  }
  outside_.log.Warning("journal not rebuilt", {{"error", rebuilt.error().message}});
  return ++rebuild_tries_ < kMaxTries ? rebuilt : Status();
}

void DevicePlugin::ReconcileUntilStopped() {
  std::string problem;  // the last one: it is logged once
  for (;;) {
    {
      MutexLock lock(mutex_);
      const auto due = std::chrono::steady_clock::now() + options_.reconcile_every;
      while (!stopping_ && stopped_.WaitUntil(mutex_, due)) {
      }
      if (stopping_) return;
    }
    if (identity() == "none") continue;
    const Status done = ReconcileNow();
    const std::string failure = done ? "" : done.error().message;
    if (!done && failure != problem) {
      outside_.log.Warning("journal not compared with podresources", {{"error", failure}});
    }
    problem = failure;
  }
}

}  // namespace strata::device_plugin
