#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "agent/node_agent.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "device_plugin/device_plugin.h"
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
    bool publish_only = false;  // another device plugin hands out the GPUs
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
  [[nodiscard]] std::string LateThread() const { return node_agent_.LateThread(); }

 private:
  [[nodiscard]] std::shared_ptr<DevicePlugin> plugin() const {
    const MutexLock lock(mutex_);
    return plugin_;
  }
  [[nodiscard]] DevicePlugin::Sources Sources() const;

  kube::Client& client_;
  const Options options_;
  obs::Log& log_;
  const Clock& clock_;
  KubeEffects effects_;
  agent::NodeAgent node_agent_;
  mutable Mutex mutex_;
  std::shared_ptr<DevicePlugin> plugin_ GUARDED_BY(mutex_);  // none: not started, or not wanted
};

}  // namespace strata::device_plugin
