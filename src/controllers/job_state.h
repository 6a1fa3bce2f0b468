#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/clock.h"
#include "controllers/pod_seen.h"
#include "objects/job.h"

// The phases of a Job: where it goes by what its pods do, and by what it is told.
namespace strata::controllers {

// Pods of a job by phase. One that is being deleted counts as terminating, whatever its phase.
struct PodCounts {
  std::int32_t pending = 0;
  std::int32_t running = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::int32_t unknown = 0;
  std::int32_t terminating = 0;
  std::int32_t outdated = 0;  // of an older version of the job, and not terminating
  std::map<std::string, std::map<std::string, std::int32_t>> by_task;  // task -> phase -> pods
  std::string evicted;  // by whom and why, of pods that are going or have just gone; "": none
  std::string refused;  // what the server refused to create; "": nothing

  [[nodiscard]] std::int32_t Succeeded(const std::string& task) const;
};
// One that `goes` counts as being deleted already.
[[nodiscard]] PodCounts CountPods(
    std::span<const PodSeen> pods,
    std::int32_t job_version,
    const std::function<bool(const PodSeen&)>& goes = [](const PodSeen&) { return false; });

[[nodiscard]] bool KeepsPods(objects::JobPhase phase);   // Pending or Running
[[nodiscard]] bool IsFinished(objects::JobPhase phase);  // Completed, Failed or Terminated

// The phase that follows from the pods; the job's own when nothing does.
[[nodiscard]] objects::JobPhase PhaseByPods(const objects::Job& job, const PodCounts& counts);

// What changes when an action is carried out.
struct JobProgress {
  objects::JobPhase phase = objects::JobPhase::kPending;
  std::int32_t version = 0;  // pods of older ones are deleted and trigger no policies
  std::int32_t retries = 0;

  friend bool operator==(const JobProgress&, const JobProgress&) = default;
};
[[nodiscard]] JobProgress ProgressOf(const objects::Job& job);
[[nodiscard]] JobProgress AfterAction(const objects::Job& job, std::string_view action);

// Whether a job that is there deletes the pod: one of an older version when it restarts, one that
// has not finished when the job ends, has ended, or has tried for the last time.
[[nodiscard]] bool Sweeps(const objects::Job& job, const JobProgress& at, const PodSeen& pod);

// RestartPod, RestartTask, RestartPartition: some pods go, the rest stay as they are.
[[nodiscard]] bool RestartsPart(std::string_view action);

// Whether an action does anything to a job that is under way; ResumeJob does not.
[[nodiscard]] bool StopsPods(std::string_view action);

// The status of a job: `before` with everything that the controller knows better. A new phase is
// one more condition, with `now` as its time. When pods were evicted, the state has the reason
// PodEvicted and the words of the evictor until all pods run again or the job ends. What the server
// refuses to create is told before that, with the reason FailedCreate.
[[nodiscard]] nlohmann::json MakeJobStatus(const nlohmann::json& before,
                                           const objects::Job& job,
                                           const JobProgress& progress,
                                           const PodCounts& counts,
                                           Time now);

// Whether two statuses, both objects, differ in nothing but how many pods are in which phase.
[[nodiscard]] bool DifferInCountsOnly(nlohmann::json a, nlohmann::json b);

// "1h2m3s", as Go writes durations of whole seconds.
[[nodiscard]] std::string GoDuration(Duration duration);

}  // namespace strata::controllers
