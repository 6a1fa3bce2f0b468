#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "model/cluster_state.h"
#include "sched/scheduler.h"

namespace strata::live {

// How long the parts of a cycle took.
class CycleTimer {
 public:
  void Opened() { opened_ = Clock::now(); }
  void Acted() { acted_ = Clock::now(); }
  void Closed() { closed_ = Clock::now(); }

  [[nodiscard]] double open_ms() const { return Millis(opened_ - start_); }
  [[nodiscard]] double actions_ms() const { return Millis(acted_ - opened_); }
  [[nodiscard]] double total_ms() const { return Millis(closed_ - start_); }

 private:
  using Clock = std::chrono::steady_clock;
  static double Millis(Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  }

  Clock::time_point start_ = Clock::now();
  Clock::time_point opened_ = start_;
  Clock::time_point acted_ = start_;
  Clock::time_point closed_ = start_;
};

// What the scheduler counts, under Volcano's names. Thread-safe.
class SchedulerMetrics {
 public:
  SchedulerMetrics();
  SchedulerMetrics(const SchedulerMetrics&) = delete;
  SchedulerMetrics& operator=(const SchedulerMetrics&) = delete;
  ~SchedulerMetrics();

  void Record(const CycleTimer& timer, const CycleResult& result, const ClusterState& state);
  void CountBind();
  void CountFailedBind();

  // In the text format of Prometheus.
  [[nodiscard]] std::string Text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::live
