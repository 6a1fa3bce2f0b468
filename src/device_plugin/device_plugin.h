#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/device_ids.h"
#include "agent/machine.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "device_plugin/allocations.h"
#include "device_plugin/effects.h"
#include "device_plugin/registrar.h"
#include "obs/log.h"

namespace strata::device_plugin {

struct DevicePluginOptions {
  std::string node;  // the name of this Node
  RegistrarOptions registrar;
  std::string pods_api_socket = "/var/lib/kubelet/pods-api/pods-api.sock";
  std::string pod_resources_socket = "/var/lib/kubelet/pod-resources/kubelet.sock";
  std::string journal = "/var/lib/strata-agent/journal";  // its folder must exist
  agent::AnswerOptions answer;
  std::vector<std::string> cdi_folders = {"/etc/cdi", "/var/run/cdi"};
  agent::OfferNuma numa = agent::OfferNuma::kNo;
  Duration source_limit = std::chrono::seconds(8);
  Duration reconcile_every = std::chrono::minutes(1);
  Duration reconcile_limit = std::chrono::seconds(5);
};

// The agent as a device plugin of the kubelet: offers the GPUs of this machine, finds out which pod
// asks for them, answers with the GPUs that the scheduler chose, and compares what it answered with
// what the kubelet shows. Threads: one that registers ("plugin-register"), one that reconciles
// ("plugin-reconc"), those of gRPC. Thread-safe.
class DevicePlugin {
 public:
  // Where pods are known from beside the Pods API, which comes first wherever the kubelet has it:
  // the kubelet's /pods, then the API server with the lock (JsonPodSource). An empty list and a
  // kubelet without the Pods API: containers get the GPUs of their ids.
  using Sources = Allocations::Sources;
  struct Outside {
    std::function<agent::MachineView()> machine;  // cheap, from any thread; null: not known yet
    Effects& effects;
    const Clock& clock;
    const obs::Log& log;
  };

  // Opens the journal; kConflict when another agent runs on this machine. Registers once the
  // machine is known.
  [[nodiscard]] static Result<std::unique_ptr<DevicePlugin>> Start(DevicePluginOptions options,
                                                                   Sources more_sources,
                                                                   Outside outside);
  DevicePlugin(const DevicePlugin&) = delete;
  DevicePlugin& operator=(const DevicePlugin&) = delete;
  // The kubelet sees the stream end; running pods keep their GPUs. What `outside` names must
  // outlive this.
  ~DevicePlugin();

  // The machine is another one than before: the kubelet hears of it if devices or their health
  // changed. Does not block.
  void MachineChanged();

  [[nodiscard]] RegistrarStatus status() const { return registrar_->status(); }
  [[nodiscard]] AllocationCounters counters() const { return allocations_->counters(); }
  // For the annotation strata.sh/agent: "pods-api", "pods", "lock" or "none".
  [[nodiscard]] std::string identity() const { return allocations_->identity(); }
  [[nodiscard]] agent::Journal journal() const { return allocations_->journal(); }

  // Compares the journal with podresources now. For tests; the thread does it by itself.
  [[nodiscard]] Status ReconcileNow();

 private:
  DevicePlugin(DevicePluginOptions options,
               Sources sources,
               std::unique_ptr<agent::JournalFile> journal,
               Outside outside);
  void ReconcileUntilStopped();
  void CheckCdi(const agent::Machine& machine);
  [[nodiscard]] Status RebuildJournal();

  const DevicePluginOptions options_;
  const Outside outside_;
  std::unique_ptr<Allocations> allocations_;
  std::unique_ptr<Registrar> registrar_;
  int rebuild_tries_ = 0;  // of the thread that registers
  Mutex mutex_;
  CondVar stopped_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  // What the last check of CDI names found, so that it is told once; none before the first.
  std::optional<std::string> cdi_problem_ GUARDED_BY(mutex_);
  std::thread reconciler_;
};

}  // namespace strata::device_plugin
