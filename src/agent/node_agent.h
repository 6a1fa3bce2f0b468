#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "agent/fabric_report.h"
#include "agent/gpu_watch.h"
#include "agent/publish.h"
#include "base/clock.h"
#include "base/result.h"
#include "kube/client.h"
#include "obs/log.h"

namespace strata::agent {

// The agent of one machine: follows its GPUs, and keeps what its Node says of them true. The
// decisions are GpuHealth's and those of publish.h.
class NodeAgent {
 public:
  struct Options {
    std::string node;  // the name of the Node of this machine
    std::string version;
    // How it learns which pod it serves (AgentFacts), as it is now.
    std::function<std::string()> identity = [] { return std::string("none"); };
    // Why nothing is to be published, such as another device plugin on this node; "" if nothing.
    std::function<std::string()> obstacle = [] { return std::string(); };
    // Called when machine() is another one.
    std::function<void()> machine_changed = [] {};
    GpuWatch::Options gpus;
    std::optional<FabricOptions> fabric;  // none: the network is left out
    bool take_over = false;               // also from another agent that registered the GPUs
    Duration driver_limit = std::chrono::seconds(60);  // a call that takes longer hangs
    std::string state_folder;  // where errors of GPUs are kept for the next process; "": nowhere
  };
  // All but the options must outlive it.
  NodeAgent(kube::Client& client, Options options, obs::Log& log, const Clock& clock);
  NodeAgent(const NodeAgent&) = delete;
  NodeAgent& operator=(const NodeAgent&) = delete;
  ~NodeAgent();

  // Works until it is stopped. Does not wait for a driver that blocks.
  Status Run(const std::stop_token& stop);

  // From any thread.
  [[nodiscard]] MachineView machine() const;
  [[nodiscard]] std::string Metrics() const;
  // The Node says what holds.
  [[nodiscard]] bool IsReady() const;
  [[nodiscard]] std::string LateThread() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Takes back what an agent wrote on the Node.
[[nodiscard]] Status Withdraw(kube::Client& client, const std::string& node);

}  // namespace strata::agent
