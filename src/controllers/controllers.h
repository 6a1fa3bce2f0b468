#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/lease_state.h"
#include "kube/pacing.h"
#include "obs/log.h"

namespace strata::controllers {

struct ControllersOptions {
  std::string conf_file;                                                 // "": the ConfigMap
  std::string conf_map = "volcano-system/volcano-controller-configmap";  // "namespace/name"
  // Lone pods of these schedulers get a PodGroup, and jobs that name none are for the first. Empty:
  // every name that simulate takes, and volcano.
  std::vector<std::string> scheduler_names = {"volcano"};
  // Programs and folders that the configuration of discovery may name; by default none.
  std::vector<std::string> discovery_allow;
  std::optional<kube::LeaseSettings> lease;  // none: nobody else controls
  // Deletes what a deleted owner left, and the pods of deleted nodes. A Kubernetes cluster does
  // that itself; our own API server does not.
  bool collect_garbage = false;
  // Keeps the status of PodDisruptionBudgets, likewise.
  bool keep_budgets = false;
  int workers = 3;                             // for each controller
  std::function<void()> ready;                 // once, when it has seen the cluster; any thread
  kube::Random random = kube::SystemRandom();  // spreads retries
};

// The controllers of a running cluster: job, podgroup, queue, hypernode, garbage collection,
// budgets. Each is a pure function from what is seen to what is to be written, and a work queue
// around it.
class Controllers {
 public:
  // All that it is given must outlive it.
  Controllers(kube::Client& client, ControllersOptions options, obs::Log& log, const Clock& clock);
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;
  ~Controllers();

  // Works until it is asked to stop. An error only when it cannot go on: a configuration file that
  // is given and cannot be used at the start, a lease that was lost. REQUIRES: discovery_allow is
  // what discovery::Permissions::Only accepts.
  [[nodiscard]] Status Run(const std::stop_token& stop);

  // The same in single steps and without threads, for a caller that has a time of its own: Start,
  // then Step again and again until HasLostLease, then Drain until it is true. All on one thread.
  // Without garbage collection and discovery, which wait for answers.
  [[nodiscard]] Status Start();
  // Takes in what has come and does what is due. Returns how long nothing will be due unless
  // something comes.
  Duration Step();
  [[nodiscard]] bool HasLostLease() const;
  // Begins nothing more. False: plans are still on their way.
  bool Drain();

  // What /metrics shows. From any thread.
  [[nodiscard]] std::string Metrics() const;
  // The thread that hangs, for /livez; "" when none does. From any thread.
  [[nodiscard]] std::string LateThread() const;
  // Whether it has seen the cluster and no watch is overdue, for /readyz. From any thread.
  [[nodiscard]] bool IsReady() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::controllers
