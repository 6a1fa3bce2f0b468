#pragma once

#include <cstdint>
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
#include "live/cache_dump.h"
#include "obs/log.h"

namespace strata::live {

struct SchedulerOptions {
  // Pods that name one of these are scheduled. Empty: every name that simulate takes.
  std::vector<std::string> scheduler_names = {"volcano"};
  std::string conf_file;                                                // "": the ConfigMap
  std::string conf_map = "volcano-system/volcano-scheduler-configmap";  // "namespace/name"
  std::string default_queue = "default";
  Duration schedule_period = std::chrono::seconds(1);  // least time from one cycle to the next
  // HyperNodes and nodes that one cycle may look at. A cycle is to take 50 ms at most.
  std::uint64_t work_per_cycle = 400'000;
  std::optional<kube::LeaseSettings> lease;  // none: no other scheduler is about
  std::string cache_dump_dir = "/tmp";
  std::function<void()> ready;  // once, when it has seen the cluster and run a cycle; any thread
  bool advises = true;  // looks for what would let waiting jobs start, on a thread of its own
  kube::Random random = kube::SystemRandom();  // spreads retries
};

// The scheduler of a running cluster: what informers see becomes a ClusterState, a cycle decides
// when something has changed, and what was decided is carried out over the API.
//
// The API server holds the truth. Whatever is lost with the process is seen again at the next
// start; what could not be carried out is decided again.
class LiveScheduler {
 public:
  // All that it is given must outlive it.
  LiveScheduler(kube::Client& client, SchedulerOptions options, obs::Log& log, const Clock& clock);
  LiveScheduler(const LiveScheduler&) = delete;
  LiveScheduler& operator=(const LiveScheduler&) = delete;
  ~LiveScheduler();

  // Schedules on the calling thread until it is asked to stop. An error only when it cannot go on:
  // a configuration file that is given and cannot be used at the start, a lease that was lost.
  [[nodiscard]] Status Run(const std::stop_token& stop);

  // The same in single steps, for a caller that has a time of its own: Start, then Step again and
  // again until HasLostLease, then Drain and Finish. All on one thread.
  [[nodiscard]] Status Start();
  // Takes in what has come and does what is due. Returns how long nothing will be due unless
  // something comes. A caller that does not come back within a minute is a thread that hangs.
  Duration Step();
  [[nodiscard]] bool HasLostLease() const;
  // Sends no more writes, and waits for the answers to those under way, `limit` at most. False:
  // some are missing. A caller that has a time of its own gives no time, and asks again later.
  bool Drain(Duration limit);
  // After Drain. A write that has no answer yet keeps the lease to its end.
  [[nodiscard]] Status Finish();

  // What /metrics shows: Volcano's names. From any thread.
  [[nodiscard]] std::string Metrics() const;
  // Whether it has seen the cluster and no watch is overdue, for /readyz. From any thread.
  [[nodiscard]] bool IsReady() const;
  // The thread that hangs, for /livez; "" when none does. From any thread.
  [[nodiscard]] std::string LateThread() const;
  // Writes what it knows of nodes, jobs and queues into a file of cache_dump_dir, after the cycle
  // under way: as text (SIGUSR2), as JSON (SIGUSR1). From any thread.
  void DumpCache(DumpForm form);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::live
