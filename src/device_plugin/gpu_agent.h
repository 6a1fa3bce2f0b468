#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "agent/node_agent.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "device_plugin/device_plugin.h"
#include "device_plugin/dra_slices.h"
#include "device_plugin/kube_effects.h"
#include "kube/client.h"
#include "obs/log.h"

namespace strata::device_plugin {

// What `strata-agent run` does: keeps the Node up to date (NodeAgent), and hands GPUs to containers
// (DevicePlugin).
class GpuAgent {
 public:
  struct Options {
    agent::NodeAgent::Options node_agent;  // its functions are set here
    DevicePluginOptions plugin;
    // Whether containers are left to another device plugin, or to claims. Not set: while NVIDIA's
    // DRA driver publishes the GPUs of this node (DraSlices).
    std::optional<bool> publish_only;
    Duration look_for_slices = std::chrono::minutes(5);
    // The kubelet's HTTPS port, for kubelets without the Pods API; null: it is not asked.
    kube::Client* kubelet = nullptr;
  };
  // All but the options must outlive it.
  GpuAgent(kube::Client& client, Options options, obs::Log& log, const Clock& clock);

  // Works until it is stopped. kConflict when another agent runs on this machine.
  Status Run(const std::stop_token& stop);

  // From any thread.
  [[nodiscard]] std::string Metrics() const;
  // The Node says what holds, and the kubelet watches our devices.
  [[nodiscard]] bool IsReady() const;
  [[nodiscard]] std::string LateThread() const;

 private:
  enum class Duty : std::uint8_t { kPublish, kPublishAndServe };
  // What works for one duty; nothing before it is known.
  struct Parts {
    Duty duty = Duty::kPublish;
    std::shared_ptr<agent::NodeAgent> node_agent;
    std::shared_ptr<DevicePlugin> plugin;  // none: not started, or not wanted
  };

  [[nodiscard]] Parts parts() const {
    const MutexLock lock(mutex_);
    return parts_;
  }
  [[nodiscard]] std::shared_ptr<DevicePlugin> plugin() const { return parts().plugin; }
  [[nodiscard]] DevicePlugin::Sources Sources() const;
  [[nodiscard]] agent::NodeAgent::Options NodeAgentOptions(Duty duty) const;
  [[nodiscard]] Result<std::shared_ptr<DevicePlugin>> StartPlugin(agent::NodeAgent& node_agent);
  Status Work(Duty duty, const std::stop_token& stop);
  Status WorkWhile(DraSlices::Found found, DraSlices& slices, const std::stop_token& stop);

  kube::Client& client_;
  const Options options_;
  obs::Log& log_;
  const Clock& clock_;
  KubeEffects effects_;
  mutable Mutex mutex_;
  Parts parts_ GUARDED_BY(mutex_);
};

}  // namespace strata::device_plugin
