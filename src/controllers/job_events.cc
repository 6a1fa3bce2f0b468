#include "controllers/job_events.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "controllers/job_state.h"

namespace strata::controllers {
namespace {

using objects::JobTask;
using objects::LifecyclePolicy;
using objects::PodPhase;

constexpr std::string_view kPodPending = "PodPending";
constexpr std::string_view kPodRunning = "PodRunning";

struct Happening {
  std::string_view event;
  const JobTask* task = nullptr;   // nullptr: the job as a whole
  const PodSeen* pod = nullptr;    // nullptr: the task as a whole
  std::optional<Time> began = {};  // where the object itself says

  [[nodiscard]] std::string Id() const {
    return fmt::format(
        "{}/{}", event, pod != nullptr ? pod->uid : (task != nullptr ? task->name : ""));
  }
};

bool Concerns(const LifecyclePolicy& policy, const Happening& happening) {
  for (const std::string& event : policy.events) {
    if (event == happening.event) return true;
    const bool usual = happening.event == kPodPending || happening.event == kPodRunning;
    if (event == "*" && !usual) return true;
  }
  return policy.exit_code && happening.event == "PodFailed" && happening.pod != nullptr &&
         happening.pod->exit_code == policy.exit_code;
}

const LifecyclePolicy* PolicyFor(const std::vector<LifecyclePolicy>& policies,
                                 const Happening& happening) {
  const auto found =
      std::find_if(policies.begin(), policies.end(), [&](const LifecyclePolicy& policy) {
        return Concerns(policy, happening);
      });
  return found == policies.end() ? nullptr : &*found;
}

std::string_view EventOf(const PodSeen& pod) {
  if (pod.being_deleted) return pod.finished() ? "" : "PodEvicted";
  switch (pod.phase) {
    case PodPhase::kFailed:
      return "PodFailed";
    case PodPhase::kPending:
      return kPodPending;
    case PodPhase::kRunning:
      return kPodRunning;
    case PodPhase::kSucceeded:
    case PodPhase::kUnknown:
      break;
  }
  return "";
}

// Whether another pod has taken the place of one that is gone.
bool IsReplaced(const JobScene& scene, const PodSeen& gone) {
  return std::any_of(scene.pods.begin(), scene.pods.end(), [&](const PodSeen& pod) {
    return pod.key == gone.key && pod.uid != gone.uid && pod.phase != PodPhase::kPending;
  });
}

bool IsLost(const JobScene& scene, const PodSeen& pod) {
  return std::find(scene.lost.begin(), scene.lost.end(), pod) != scene.lost.end();
}

class Gatherer {
 public:
  explicit Gatherer(const JobScene& scene) : scene_(scene) {}

  std::vector<Happening> All() {
    for (const PodSeen& pod : scene_.lost) AddPod(pod, "PodEvicted");
    for (const PodSeen& pod : scene_.pods) AddPod(pod, EventOf(pod));
    for (const JobTask& task : scene_.job.tasks) AddTask(task);
    if (scene_.group_unknown) all_.push_back({.event = "Unknown"});
    return std::move(all_);
  }

 private:
  const JobTask* TaskOf(const PodSeen& pod) const {
    for (const JobTask& task : scene_.job.tasks) {
      if (task.name == pod.task && pod.index >= 0 && pod.index < task.replicas) return &task;
    }
    return nullptr;
  }

  bool Counts(const PodSeen& pod) const {
    return !pod.out_of_sync && pod.job_version >= scene_.job.version && TaskOf(pod) != nullptr;
  }

  void AddPod(const PodSeen& pod, std::string_view event) {
    if (event.empty() || !Counts(pod)) return;
    Happening happening{.event = event, .task = TaskOf(pod), .pod = &pod};
    if (event == kPodPending) happening.began = pod.created;
    all_.push_back(happening);
  }

  void AddTask(const JobTask& task) {
    std::int32_t succeeded = 0;
    std::int64_t restarts = 0;
    for (const PodSeen& pod : scene_.pods) {
      if (pod.task != task.name || pod.being_deleted || !Counts(pod)) continue;
      if (pod.phase == PodPhase::kSucceeded) ++succeeded;
      if (!pod.finished()) restarts += pod.restarts;
    }
    if (task.replicas > 0 && succeeded >= task.replicas) {
      all_.push_back({.event = "TaskCompleted", .task = &task});
    }
    if (task.max_retry >= 0 && restarts >= task.max_retry) {
      all_.push_back({.event = "TaskFailed", .task = &task});
    }
  }

  const JobScene& scene_;
  std::vector<Happening> all_;
};

// Whether the time of an event has come; else the verdict says when to look again, if at all.
bool IsDue(const JobScene& scene,
           const Happening& happening,
           Duration timeout,
           JobVerdict& verdict) {
  const bool lost = happening.pod != nullptr && IsLost(scene, *happening.pod);
  if (lost && IsReplaced(scene, *happening.pod)) return false;
  const std::string id = happening.Id();
  const auto known = scene.since.find(id);
  const Time since =
      happening.began.value_or(known == scene.since.end() ? scene.now : known->second);
  verdict.since[id] = since;
  const Duration left = since + timeout - scene.now;
  if (left <= Duration(0)) return true;
  verdict.next = std::min(verdict.next.value_or(left), left);
  if (lost) verdict.lost.push_back(*happening.pod);
  return false;
}

}  // namespace

JobVerdict AskPolicies(const JobScene& scene) {
  JobVerdict verdict;
  for (const Happening& happening : Gatherer(scene).All()) {
    const LifecyclePolicy* policy =
        happening.task != nullptr ? PolicyFor(happening.task->policies, happening) : nullptr;
    if (policy == nullptr) policy = PolicyFor(scene.job.policies, happening);
    if (policy == nullptr || !StopsPods(policy->action)) continue;
    if (policy->timeout && !IsDue(scene, happening, *policy->timeout, verdict)) continue;
    if (verdict.due) continue;
    verdict.due = JobDecision{.action = policy->action,
                              .event = std::string(happening.event),
                              .task = happening.task != nullptr ? happening.task->name : "",
                              .pod = {}};
    if (happening.pod != nullptr) verdict.due->pod = *happening.pod;
  }
  return verdict;
}

}  // namespace strata::controllers
