#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "model/cluster_state.h"
#include "sched/config.h"
#include "sched/cycle_result.h"

namespace strata::live {

// How long the parts of a cycle took.
class CycleTimer {
 public:
  void Opened() { opened_ = acted_ = Clock::now(); }
  void Acted(const std::string& action) {
    const Clock::time_point begun = std::exchange(acted_, Clock::now());
    actions_.emplace_back(action, Millis(acted_ - begun));
  }
  void Closed() { closed_ = Clock::now(); }

  [[nodiscard]] double open_ms() const { return Millis(opened_ - start_); }
  [[nodiscard]] double actions_ms() const { return Millis(acted_ - opened_); }
  [[nodiscard]] double total_ms() const { return Millis(closed_ - start_); }
  // Each action and its milliseconds, in the order in which they ran.
  [[nodiscard]] const std::vector<std::pair<std::string, double>>& actions() const {
    return actions_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double Millis(Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  }

  Clock::time_point start_ = Clock::now();
  Clock::time_point opened_ = start_;
  Clock::time_point acted_ = start_;
  Clock::time_point closed_ = start_;
  std::vector<std::pair<std::string, double>> actions_;
};

// What the scheduler counts, under Volcano's names. Thread-safe.
class SchedulerMetrics {
 public:
  SchedulerMetrics();
  SchedulerMetrics(const SchedulerMetrics&) = delete;
  SchedulerMetrics& operator=(const SchedulerMetrics&) = delete;
  ~SchedulerMetrics();

  // After a cycle at `now`.
  void Record(const CycleTimer& timer,
              const CycleResult& result,
              const ClusterState& state,
              Time now);
  // What queues have and may have, by the plugin of `config` that divides the cluster. COST: that
  // of dividing it, which many queues make more than a cycle without work.
  void RecordQueues(const ClusterState& state, const SchedulerConfig& config);
  // The GPUs of HyperNodes. COST: O(HyperNodes).
  void RecordHyperNodes(const ClusterState& state);
  // How what is free lies, and what the jobs of the last Record lack (docs/fragmentation.md).
  // COST: O(nodes + pods); not to be paid in a cycle.
  void RecordFragmentation(const ClusterState& state, Time now);
  void CountBind();
  void CountFailedBind();
  void CountClaimEnd(const ClaimEnd& end);

  // In the text format of Prometheus.
  [[nodiscard]] std::string Text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::live
