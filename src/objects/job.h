#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "objects/meta.h"
#include "objects/pod.h"
#include "objects/topology.h"

namespace strata::objects {

// What to do when something happens to a job or one of its tasks.
struct LifecyclePolicy {
  std::string action;               // "RestartJob", ...; a known one
  std::vector<std::string> events;  // `event` and `events` together; empty with an exit code
  std::optional<std::int32_t> exit_code;
  std::optional<Duration> timeout;
};

struct PartitionPolicy {
  std::int32_t total_partitions = 1;
  std::int32_t partition_size = 1;
  std::int32_t min_partitions = 0;
  std::optional<NetworkTopology> topology;
};

struct DependsOn {
  enum class Iteration : std::uint8_t { kAny, kAll };

  std::vector<std::string> tasks;
  Iteration iteration = Iteration::kAny;
};

struct JobTask {
  std::string name;  // default<i> when the object names none
  std::int32_t replicas = 0;
  std::int32_t min_available = 0;  // the webhook's default filled in
  PodTemplate pod_template;
  std::vector<LifecyclePolicy> policies;
  std::string topology_policy;  // NUMA: "none", "best-effort", "restricted", "single-numa-node", ""
  std::int32_t max_retry = 3;
  std::optional<DependsOn> depends_on;
  std::optional<PartitionPolicy> partition;
};

struct JobVolume {
  std::string mount_path;
  std::string claim_name;          // "" when `claim` is to be made
  std::optional<ClaimSpec> claim;  // made by the controller as <job>-pvc-<random>
};

enum class JobPhase : std::uint8_t {
  kPending,
  kAborting,
  kAborted,
  kRunning,
  kRestarting,
  kCompleting,
  kCompleted,
  kTerminating,
  kTerminated,
  kFailed,
};

// batch.volcano.sh/v1alpha1 Job, with the defaults of the mutating webhook.
struct Job {
  Metadata meta;
  std::string scheduler_name = "volcano";
  std::int32_t min_available = 0;
  std::vector<JobVolume> volumes;
  std::vector<JobTask> tasks;
  std::vector<LifecyclePolicy> policies;
  std::map<std::string, std::vector<std::string>> plugins;  // name -> arguments
  std::optional<Duration> running_estimate;
  std::string queue = "default";
  std::int32_t max_retry = 3;
  std::optional<std::int32_t> ttl_seconds_after_finished;
  std::string priority_class_name;
  std::optional<std::int32_t> min_success;
  std::optional<NetworkTopology> topology;

  JobPhase phase = JobPhase::kPending;
  std::optional<Time> phase_since;
  std::optional<Time> first_ran;
  std::string phase_message;  // of status.state; "" when it says nothing
  std::int32_t version = 0;
  std::int32_t retry_count = 0;
};

// "Pending"
[[nodiscard]] std::string_view ToString(JobPhase phase);
// True once the controller makes no more pods for it: finished, or aborted and not resumed.
[[nodiscard]] bool MakesNoPods(JobPhase phase);

}  // namespace strata::objects
