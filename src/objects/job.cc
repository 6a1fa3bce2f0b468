#include "objects/job.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/timestamp.h"
#include "objects/readers.h"
#include "objects/syntax.h"

namespace strata::objects {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

constexpr std::int32_t kDefaultMaxRetry = 3;
constexpr std::size_t kMaxPodName = 63;

constexpr std::array<Word, 4> kNumaPolicies = {{{"none", "none"},
                                                {"best-effort", "best-effort"},
                                                {"restricted", "restricted"},
                                                {"single-numa-node", "single-numa-node"}}};

constexpr std::array<std::pair<std::string_view, JobPhase>, 10> kJobPhases = {
    {{"Pending", JobPhase::kPending},
     {"Aborting", JobPhase::kAborting},
     {"Aborted", JobPhase::kAborted},
     {"Running", JobPhase::kRunning},
     {"Restarting", JobPhase::kRestarting},
     {"Completing", JobPhase::kCompleting},
     {"Completed", JobPhase::kCompleted},
     {"Terminating", JobPhase::kTerminating},
     {"Terminated", JobPhase::kTerminated},
     {"Failed", JobPhase::kFailed}}};

bool IsSet(const Cursor& at) {
  return at.present() &&
         (at.value().type() != Value::Type::kString || !at.value().AsString().empty());
}

void ReadTemplate(const Cursor& at, PodTemplate& out) {
  const Cursor meta = at.At("metadata");
  ReadLabels(meta.At("labels"), out.labels);
  ReadAnnotations(meta.At("annotations"), out.annotations);
  const Cursor spec = at.At("spec");
  ReadPodSpec(spec.Required(), out.spec);
}

void ReadPartition(const Cursor& at, PartitionPolicy& out) {
  at.At("totalPartitions").Required().Read(out.total_partitions, {1, INT32_MAX});
  at.At("partitionSize").Required().Read(out.partition_size, {1, INT32_MAX});
  at.At("minPartitions").Read(out.min_partitions, kCount32);
  const Cursor topology = at.At("networkTopology");
  if (topology.present()) ReadNetworkTopology(topology, out.topology.emplace());
}

// Defaults and checks minAvailable against replicas and partitions.
void ReadTaskMinimum(const Cursor& task, JobTask& out) {
  const Cursor min_available = task.At("minAvailable");
  std::int64_t partition_min = 0;
  if (out.partition) {
    const PartitionPolicy& partition = *out.partition;
    const std::int64_t product =
        std::int64_t{partition.total_partitions} * partition.partition_size;
    partition_min = std::int64_t{partition.min_partitions} * partition.partition_size;
    if (product != out.replicas) {
      task.At("partitionPolicy")
          .Fail(fmt::format(
              "totalPartitions * partitionSize is {}, want replicas ({})", product, out.replicas));
    }
    if (partition.min_partitions > partition.total_partitions) {
      const Cursor policy = task.At("partitionPolicy");
      policy.At("minPartitions")
          .Fail(fmt::format("{} is more than totalPartitions ({})",
                            partition.min_partitions,
                            partition.total_partitions));
    }
  }
  if (!task.ok()) return;
  out.min_available = partition_min > 0 ? static_cast<std::int32_t>(partition_min) : out.replicas;
  min_available.Read(out.min_available, kCount32);
  if (out.min_available > out.replicas) {
    min_available.Fail(
        fmt::format("'minAvailable' is greater than 'replicas' in task {}: {} and {}",
                    out.name,
                    out.min_available,
                    out.replicas));
  }
  if (min_available.present() && partition_min > 0 && out.min_available != partition_min) {
    min_available.Fail(fmt::format(
        "{} is not minPartitions * partitionSize ({})", out.min_available, partition_min));
  }
}

void ReadTask(const Cursor& at, std::size_t index, JobTask& out) {
  const Cursor name = at.At("name");
  name.Read(out.name);
  if (out.name.empty()) out.name = fmt::format("default{}", index);
  CheckDnsLabel(name, out.name);
  at.At("replicas").Read(out.replicas, kCount32);
  const Cursor partition = at.At("partitionPolicy");
  if (partition.present()) ReadPartition(partition, out.partition.emplace());
  ReadTaskMinimum(at, out);
  ReadTemplate(at.At("template").Required(), out.pod_template);
  ReadLifecyclePolicies(at.At("policies"), out.policies);
  const Cursor numa = at.At("topologyPolicy");
  if (IsSet(numa)) {
    std::string_view policy;
    numa.ReadEnum(policy, kNumaPolicies);
    out.topology_policy = std::string(policy);
  }
  at.At("maxRetry").Read(out.max_retry, {-1, INT32_MAX});
  if (out.max_retry == 0) out.max_retry = kDefaultMaxRetry;
  const Cursor depends_on = at.At("dependsOn");
  if (depends_on.present()) {
    constexpr std::array<std::pair<std::string_view, DependsOn::Iteration>, 2> kIterations = {
        {{"any", DependsOn::Iteration::kAny}, {"all", DependsOn::Iteration::kAll}}};
    DependsOn& out_depends_on = out.depends_on.emplace();
    depends_on.At("name").Read(out_depends_on.tasks);
    const Cursor iteration = depends_on.At("iteration");
    out_depends_on.iteration = DependsOn::Iteration::kAll;  // unless it says otherwise
    if (IsSet(iteration)) iteration.ReadEnum(out_depends_on.iteration, kIterations);
  }
}

void ReadTasks(const Cursor& tasks, Job& out) {
  std::size_t index = 0;
  tasks.ForEach([&](const Cursor& item) { ReadTask(item, index++, out.tasks.emplace_back()); });
  if (out.tasks.empty()) tasks.Fail("No task specified in job spec (want at least one)");
  std::set<std::string_view> names;
  for (const JobTask& task : out.tasks) {
    if (!names.insert(task.name).second) {
      tasks.Fail(fmt::format("duplicated task name \"{}\"", task.name));
    }
    // Longer names would not do as host names, and the webhook refuses them.
    const std::string last = std::to_string(std::max(0, task.replicas - 1));
    const std::string pod = fmt::format("{}-{}-{}", out.meta.name, task.name, last);
    if (pod.size() > kMaxPodName) {
      tasks.Fail(fmt::format("pod name \"{}\" is longer than {} characters", pod, kMaxPodName));
    }
  }
}

// dependsOn names tasks of this job, and never in a circle.
void CheckDependencies(const Cursor& tasks, const Job& job) {
  std::set<std::string_view> known;
  for (const JobTask& task : job.tasks) known.insert(task.name);
  for (const JobTask& task : job.tasks) {
    if (!task.depends_on) continue;
    for (const std::string& name : task.depends_on->tasks) {
      if (known.contains(name)) continue;
      tasks.Fail(fmt::format("task \"{}\" depends on \"{}\", which is not a task of this job",
                             task.name,
                             name.substr(0, 100)));
    }
  }
  bool progress = true;
  std::set<std::string_view> done;
  while (progress && done.size() < job.tasks.size()) {
    progress = false;
    for (const JobTask& task : job.tasks) {
      const bool ready = !task.depends_on ||
                         std::all_of(task.depends_on->tasks.begin(),
                                     task.depends_on->tasks.end(),
                                     [&](const std::string& name) { return done.contains(name); });
      if (ready && done.insert(task.name).second) progress = true;
    }
  }
  if (done.size() < job.tasks.size()) {
    tasks.Fail("dependsOn has a cycle (want a directed acyclic graph(DAG) of tasks)");
  }
}

void ReadVolumes(const Cursor& volumes, Job& out) {
  std::set<std::string> paths;
  volumes.ForEach([&](const Cursor& item) {
    JobVolume& volume = out.volumes.emplace_back();
    const Cursor mount_path = item.At("mountPath");
    mount_path.Required().Read(volume.mount_path);
    if (volume.mount_path.empty()) mount_path.Fail("is required");
    if (!paths.insert(volume.mount_path).second) {
      mount_path.Fail("duplicated mountPath: " + volume.mount_path);
    }
    const Cursor name = item.At("volumeClaimName");
    name.Read(volume.claim_name);
    if (!volume.claim_name.empty()) CheckDnsSubdomain(name, volume.claim_name);
    const Cursor claim = item.At("volumeClaim");
    if (claim.present()) ReadClaimSpec(claim, volume.claim.emplace());
    // The controller writes the name of the claim it made beside the claim.
    if (volume.claim_name.empty() && !volume.claim) {
      item.Fail("either VolumeClaim or VolumeClaimName must be specified");
    }
  });
}

void ReadPlugins(const Cursor& plugins, Job& out) {
  const std::vector<std::string_view> known = {
      "env", "svc", "ssh", "pytorch", "mpi", "tensorflow", "ray", "hcclrank"};
  plugins.ForEachMember([&](std::string_view name, const Cursor& arguments) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return plugins.UnknownWord(name, known, "unable to find job plugin: ");
    }
    arguments.Read(out.plugins[std::string(name)]);
  });
  // Frameworks need the host names of svc; mpi also logs in by ssh.
  const bool mpi = out.plugins.contains("mpi");
  if (mpi || out.plugins.contains("pytorch") || out.plugins.contains("tensorflow") ||
      out.plugins.contains("ray")) {
    out.plugins.try_emplace("svc");
  }
  if (mpi) out.plugins.try_emplace("ssh");
}

void ReadMinimum(const Cursor& spec, Job& out) {
  std::int64_t replicas = 0;
  std::int64_t minimum = 0;
  for (const JobTask& task : out.tasks) {
    replicas += task.replicas;
    minimum += task.min_available;
  }
  const Cursor min_available = spec.At("minAvailable");
  min_available.Read(out.min_available, kCount32);
  if (out.min_available > replicas) {
    min_available.Fail(
        fmt::format("job 'minAvailable' should not be greater than total replicas: {} and {}",
                    out.min_available,
                    replicas));
  }
  if (replicas > INT32_MAX) spec.At("tasks").Fail("too many replicas");
  if (out.min_available == 0) out.min_available = static_cast<std::int32_t>(minimum);
}

// What the status says about the past. People read it, nothing is decided by it: an invalid time is
// left out.
void ReadHistory(const Cursor& status, Job& out) {
  const auto read_time = [](const Cursor& at, std::optional<Time>& time) {
    std::string text;
    at.Read(text);
    if (const auto parsed = ParseTimestamp(text)) time = *parsed;
  };
  const Cursor state = status.At("state");
  read_time(state.At("lastTransitionTime"), out.phase_since);
  state.At("message").Read(out.phase_message);
  status.At("conditions").ForEach([&](const Cursor& condition) {
    std::string phase;
    condition.At("status").Read(phase);
    if (phase != ToString(JobPhase::kRunning) || out.first_ran) return;
    read_time(condition.At("lastTransitionTime"), out.first_ran);
  });
}

}  // namespace

void ReadObject(const Cursor& object, Job& out) {
  const Cursor spec = object.At("spec");
  spec.Required();
  const Cursor scheduler = spec.At("schedulerName");
  if (IsSet(scheduler)) scheduler.Read(out.scheduler_name);
  const Cursor tasks = spec.At("tasks");
  ReadTasks(tasks, out);
  CheckDependencies(tasks, out);
  ReadMinimum(spec, out);
  ReadVolumes(spec.At("volumes"), out);
  ReadLifecyclePolicies(spec.At("policies"), out.policies);
  ReadPlugins(spec.At("plugins"), out);
  spec.At("runningEstimate").Read(out.running_estimate);
  spec.At("queue").Read(out.queue);
  if (out.queue.empty()) out.queue = "default";
  CheckDnsSubdomain(spec.At("queue"), out.queue);
  spec.At("maxRetry").Read(out.max_retry, kCount32);
  if (out.max_retry == 0) out.max_retry = kDefaultMaxRetry;
  spec.At("ttlSecondsAfterFinished").Read(out.ttl_seconds_after_finished, kCount32);
  spec.At("priorityClassName").Read(out.priority_class_name);
  spec.At("minSuccess").Read(out.min_success, {1, INT32_MAX});
  const Cursor topology = spec.At("networkTopology");
  if (topology.present()) ReadNetworkTopology(topology, out.topology.emplace());

  const Cursor status = object.At("status");
  const Cursor state = status.At("state");
  const Cursor phase = state.At("phase");
  if (IsSet(phase)) phase.ReadEnum(out.phase, kJobPhases);
  ReadHistory(status, out);
  status.At("version").Read(out.version);
  status.At("retryCount").Read(out.retry_count);
}

std::string_view ToString(JobPhase phase) {
  for (const auto& [word, value] : kJobPhases) {
    if (value == phase) return word;
  }
  return "Pending";
}

bool MakesNoPods(JobPhase phase) {
  switch (phase) {
    case JobPhase::kPending:
    case JobPhase::kRunning:
    case JobPhase::kRestarting:
      return false;
    case JobPhase::kAborting:
    case JobPhase::kAborted:
    case JobPhase::kCompleting:
    case JobPhase::kCompleted:
    case JobPhase::kTerminating:
    case JobPhase::kTerminated:
    case JobPhase::kFailed:
      return true;
  }
  return false;
}

}  // namespace strata::objects
