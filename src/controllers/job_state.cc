#include "controllers/job_state.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "controllers/object_meta.h"
#include "json/access.h"

namespace strata::controllers {
namespace {

using nlohmann::json;
using objects::Job;
using objects::JobPhase;
using objects::JobTask;
using objects::PodPhase;

constexpr std::string_view kRestartJob = "RestartJob";
constexpr const char* kPodEvicted = "PodEvicted";
constexpr const char* kFailedCreate = "FailedCreate";
constexpr std::array<std::pair<std::string_view, JobPhase>, 3> kEnds = {
    {{"AbortJob", JobPhase::kAborting},
     {"CompleteJob", JobPhase::kCompleting},
     {"TerminateJob", JobPhase::kTerminating}}};

std::int64_t ReplicasOf(const Job& job) {
  std::int64_t sum = 0;
  for (const JobTask& task : job.tasks) sum += task.replicas;
  return sum;
}

std::int32_t& CounterOf(PodCounts& counts, PodPhase phase) {
  switch (phase) {
    case PodPhase::kPending:
      return counts.pending;
    case PodPhase::kRunning:
      return counts.running;
    case PodPhase::kSucceeded:
      return counts.succeeded;
    case PodPhase::kFailed:
      return counts.failed;
    case PodPhase::kUnknown:
      break;
  }
  return counts.unknown;
}

// The minima of tasks count only where the minimum of the job does not say that fewer are enough.
bool TaskFellShort(const Job& job, const PodCounts& counts) {
  std::int64_t sum = 0;
  for (const JobTask& task : job.tasks) sum += task.min_available;
  if (job.min_available < sum) return false;
  return std::any_of(job.tasks.begin(), job.tasks.end(), [&](const JobTask& task) {
    return counts.Succeeded(task.name) < task.min_available;
  });
}

JobPhase AfterRunning(const Job& job, const PodCounts& counts) {
  const std::int64_t replicas = ReplicasOf(job);
  if (replicas == 0) return JobPhase::kRunning;  // scaled to nothing: it waits to grow again
  if (job.min_success && counts.succeeded >= *job.min_success) return JobPhase::kCompleted;
  if (std::int64_t{counts.succeeded} + counts.failed >= replicas) {
    const bool enough =
        !TaskFellShort(job, counts) && !job.min_success && counts.succeeded >= job.min_available;
    return enough ? JobPhase::kCompleted : JobPhase::kFailed;
  }
  // An evicted gang may have no pods at all: they are made when it is admitted again.
  const std::int64_t begun = std::int64_t{counts.running} + counts.succeeded + counts.failed +
                             counts.unknown + counts.terminating;
  const std::int64_t waiting = std::max<std::int64_t>(counts.pending, replicas - begun);
  return waiting > replicas - job.min_available ? JobPhase::kPending : JobPhase::kRunning;
}

JobPhase AfterRestarting(const Job& job, const PodCounts& counts) {
  if (job.retry_count >= job.max_retry) return JobPhase::kFailed;
  const bool swept =
      counts.outdated == 0 && ReplicasOf(job) - counts.terminating >= job.min_available;
  return swept ? JobPhase::kPending : JobPhase::kRestarting;
}

std::string Stamp(Time time) {
  return FormatTimestamp(std::chrono::floor<std::chrono::seconds>(time));
}

void SetCount(json& status, const char* key, std::int64_t value) {
  if (value == 0) {
    status.erase(key);
  } else {
    status[key] = value;
  }
}

// Since the job first ran; since it was made when it never did.
Duration RanFor(const json& status, const Job& job, Time now) {
  Time since = job.meta.created;
  for (const json& condition : ListAt(status, {"conditions"})) {
    if (TextAt(condition, {"status"}) != ToString(JobPhase::kRunning)) continue;
    since = ParseTimestamp(TextAt(condition, {"lastTransitionTime"})).value_or(since);
    break;
  }
  return now - since;
}

void SetPhase(const Job& job, JobPhase phase, Time now, json& status) {
  const std::string word(ToString(phase));
  if (TextAt(status, {"state", "phase"}) == word) return;
  status["state"] = {{"phase", word}, {"lastTransitionTime", Stamp(now)}};
  if (!status.contains("conditions") || !status["conditions"].is_array()) {
    status["conditions"] = json::array();
  }
  status["conditions"].push_back({{"status", word}, {"lastTransitionTime", Stamp(now)}});
  if (IsFinished(phase)) status["runningDuration"] = GoDuration(RanFor(status, job, now));
}

void TellEviction(
    const json& before, const Job& job, JobPhase phase, const PodCounts& counts, json& status) {
  const std::string& evicted = counts.evicted;
  const bool known = TextAt(before, {"state", "reason"}) == kPodEvicted;
  if (evicted.empty() && !known) return;
  const bool whole =
      std::int64_t{counts.running} + counts.succeeded + counts.failed >= ReplicasOf(job);
  const bool ends =
      phase == JobPhase::kCompleting || phase == JobPhase::kCompleted || phase == JobPhase::kFailed;
  json& state = status["state"];
  state.erase("reason");
  state.erase("message");
  if (evicted.empty() && (whole || ends)) return;
  state["reason"] = kPodEvicted;
  state["message"] = evicted.empty() ? TextAt(before, {"state", "message"}) : evicted;
}

void TellRefusal(const std::string& refusal, json& status) {
  json& state = status["state"];
  if (!refusal.empty()) {
    state["reason"] = kFailedCreate;
    state["message"] = refusal;
  } else if (TextAt(state, {"reason"}) == kFailedCreate) {
    state.erase("reason");
    state.erase("message");
  }
}

}  // namespace

std::int32_t PodCounts::Succeeded(const std::string& task) const {
  const auto phases = by_task.find(task);
  if (phases == by_task.end()) return 0;
  const auto found = phases->second.find(std::string(WordOf(PodPhase::kSucceeded)));
  return found == phases->second.end() ? 0 : found->second;
}

PodCounts CountPods(std::span<const PodSeen> pods,
                    std::int32_t job_version,
                    const std::function<bool(const PodSeen&)>& goes) {
  PodCounts counts;
  for (const PodSeen& pod : pods) {
    if (pod.being_deleted || goes(pod)) {
      ++counts.terminating;
      continue;
    }
    if (pod.job_version < job_version) ++counts.outdated;
    ++CounterOf(counts, pod.phase);
    ++counts.by_task[pod.task][std::string(WordOf(pod.phase))];
  }
  return counts;
}

bool KeepsPods(JobPhase phase) {
  return phase == JobPhase::kPending || phase == JobPhase::kRunning;
}

bool IsFinished(JobPhase phase) {
  return phase == JobPhase::kCompleted || phase == JobPhase::kFailed ||
         phase == JobPhase::kTerminated;
}

JobPhase PhaseByPods(const Job& job, const PodCounts& counts) {
  const bool ended = counts.terminating + counts.pending + counts.running == 0;
  switch (job.phase) {
    case JobPhase::kPending:
      return job.min_available <= counts.running + counts.succeeded + counts.failed
                 ? JobPhase::kRunning
                 : job.phase;
    case JobPhase::kRunning:
      return AfterRunning(job, counts);
    case JobPhase::kRestarting:
      return AfterRestarting(job, counts);
    case JobPhase::kAborting:
      return ended ? JobPhase::kAborted : job.phase;
    case JobPhase::kCompleting:
      return ended ? JobPhase::kCompleted : job.phase;
    case JobPhase::kTerminating:
      return ended ? JobPhase::kTerminated : job.phase;
    case JobPhase::kAborted:
    case JobPhase::kCompleted:
    case JobPhase::kTerminated:
    case JobPhase::kFailed:
      break;
  }
  return job.phase;
}

JobProgress ProgressOf(const Job& job) {
  return {.phase = job.phase, .version = job.version, .retries = job.retry_count};
}

bool Sweeps(const Job& job, const JobProgress& at, const PodSeen& pod) {
  if (KeepsPods(at.phase)) return false;
  const bool restarts = at.phase == JobPhase::kRestarting && at.retries < job.max_retry;
  return restarts ? pod.job_version < at.version : !pod.finished();
}

bool RestartsPart(std::string_view action) {
  return action == "RestartPod" || action == "RestartTask" || action == "RestartPartition";
}

bool StopsPods(std::string_view action) {
  const bool ends =
      std::any_of(kEnds.begin(), kEnds.end(), [&](const auto& end) { return end.first == action; });
  return ends || action == kRestartJob || RestartsPart(action);
}

JobProgress AfterAction(const Job& job, std::string_view action) {
  JobProgress next = ProgressOf(job);
  const bool lives = KeepsPods(job.phase);
  const bool aborted = job.phase == JobPhase::kAborting || job.phase == JobPhase::kAborted;
  if (lives && RestartsPart(action)) {
    next.phase = JobPhase::kRestarting;
    ++next.retries;
    return next;
  }
  if ((lives && action == kRestartJob) || (aborted && action == "ResumeJob")) {
    return {JobPhase::kRestarting, next.version + 1, next.retries + 1};
  }
  for (const auto& [name, phase] : kEnds) {
    if (lives && action == name) return {phase, next.version + 1, next.retries};
  }
  return next;
}

json MakeJobStatus(const json& before,
                   const Job& job,
                   const JobProgress& progress,
                   const PodCounts& counts,
                   Time now) {
  json status = before.is_object() ? before : json::object();
  SetPhase(job, progress.phase, now, status);
  TellEviction(before, job, progress.phase, counts, status);
  TellRefusal(counts.refused, status);
  SetCount(status, "minAvailable", job.min_available);
  SetCount(status, "pending", counts.pending);
  SetCount(status, "running", counts.running);
  SetCount(status, "succeeded", counts.succeeded);
  SetCount(status, "failed", counts.failed);
  SetCount(status, "terminating", counts.terminating);
  SetCount(status, "unknown", counts.unknown);
  SetCount(status, "version", progress.version);
  SetCount(status, "retryCount", progress.retries);
  status.erase("taskStatusCount");
  for (const auto& [task, phases] : counts.by_task) {
    status["taskStatusCount"][task]["phase"] = phases;
  }
  return status;
}

bool DifferInCountsOnly(json a, json b) {
  for (const char* key :
       {"pending", "running", "succeeded", "failed", "terminating", "unknown", "taskStatusCount"}) {
    a.erase(key);
    b.erase(key);
  }
  return a == b;
}

std::string GoDuration(Duration duration) {
  const std::int64_t seconds =
      std::max<std::int64_t>(0, std::chrono::floor<std::chrono::seconds>(duration).count());
  std::string text;
  if (seconds >= 3600) text += fmt::format("{}h", seconds / 3600);
  if (seconds >= 60) text += fmt::format("{}m", seconds / 60 % 60);
  return text + fmt::format("{}s", seconds % 60);
}

}  // namespace strata::controllers
