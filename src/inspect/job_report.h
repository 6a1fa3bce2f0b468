#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/quantity.h"
#include "base/result.h"
#include "inspect/live_cluster.h"
#include "model/labels.h"
#include "objects/meta.h"

namespace strata::inspect {

// What people ask for: whether a job waits, runs, has ended, or was told not to run.
enum class JobState : std::uint8_t { kWaiting, kRunning, kFinished, kSuspended };
// "waiting"
[[nodiscard]] std::string_view ToString(JobState state);
// The state that goes with a phase of a Job or PodGroup; none for an unknown word.
[[nodiscard]] std::optional<JobState> StateOfPhase(std::string_view phase);

// A job of a running cluster, with what has become of it: a Volcano Job, or a PodGroup that belongs
// to none (those of Kubeflow, Ray and pods without a Job).
struct JobReport {
  enum class Kind : std::uint8_t { kJob, kPodGroup };
  struct Task {
    std::string name;
    std::int32_t replicas = 0;
    std::int32_t min_available = 0;
    std::map<std::string, std::size_t> pods;  // by phase
  };
  struct Pod {
    std::string name;
    std::string task;
    std::string phase;
    std::string node;  // "" while it waits
    std::string leaf;  // the lowest HyperNode of its node; "" when it is in none
  };

  Kind kind = Kind::kJob;
  JobState state = JobState::kWaiting;
  bool shares_gpus = false;  // a pod takes less than the whole of a GPU
  std::int32_t min_available = 0;
  std::int32_t tier = 0;  // of `domain`
  std::string owner;      // of a PodGroup: "PyTorchJob/train"; "" when nothing owns it
  Labels labels;
  kube::ObjectKey key;
  std::string uid;
  std::string phase;  // of the Job or PodGroup
  std::string queue;
  std::string group;  // its PodGroup; "" while there is none
  std::size_t rank =
      0;  // its place in the line of its queue, from 1; 0: unknown, or it waits in none
  std::size_t ready = 0;
  std::size_t total = 0;
  Quantity gpus;  // of all its pods: resources whose names end in "/gpu"
  // The lowest HyperNode that holds its pods, or held them until it ended; "" when none does.
  std::string domain;
  std::set<std::string> nodes;  // those of its pods that have one
  Time created{};
  std::optional<Time> since;              // of its phase
  std::optional<Time> started;            // when its first pod ran
  std::optional<Time> finished;           // only of a finished job
  std::optional<std::int32_t> exit_code;  // of the first pod, by name, that failed
  std::string reason;                     // why it waits or ended: a word, "" when all is well
  std::string message;                    // and the sentence
  std::vector<Task> tasks;
  std::vector<Pod> pods;                       // by leaf and name
  std::vector<objects::Condition> conditions;  // of the PodGroup
};

// What lists call it. The PodGroup that a controller made for pods without one says nothing; whose
// they are does: "ReplicaSet/web-5d8f".
[[nodiscard]] std::string ShownName(const JobReport& job);

// For how long a waiting job waits, a running one runs, a finished one ran, a suspended one is
// suspended; none where nothing says so. One that was stopped and started again waits or runs since
// then, where its status says it.
[[nodiscard]] std::optional<Duration> TimeOf(const JobReport& job, Time now);

// The objects of a cluster that describe its jobs: JSON texts that somebody else keeps.
struct JobTexts {
  std::vector<std::string_view> jobs;
  std::vector<std::string_view> pods;
  std::vector<std::string_view> others;  // PodGroups, nodes, HyperNodes, PriorityClasses
  bool has_classes = false;              // all PriorityClasses that there are
};
// The same with their texts.
struct JobObjects {
  std::vector<ListedObject> jobs;
  std::vector<ListedObject> pods;
  std::vector<ListedObject> others;
  bool has_classes = false;

  [[nodiscard]] JobTexts Texts() const;
};
// "" is every namespace.
[[nodiscard]] Result<JobObjects> ReadJobObjects(LiveCluster& cluster, const std::string& ns);

// Pure. Ascending by namespace and name, a Job before a PodGroup of its name. What cannot be read
// is left out; `warnings` say so.
[[nodiscard]] Result<std::vector<JobReport>> MakeJobReports(const JobTexts& texts,
                                                            std::vector<std::string>& warnings);

// An Event, which may stand for several that say the same.
struct EventLine {
  Time first{};
  Time last{};
  std::string type;
  std::string reason;
  std::string object;  // "Pod train-worker-0"
  std::string message;
  std::int32_t count = 1;
};
// The last `count` events about the objects of these names, oldest first. Pure.
[[nodiscard]] std::vector<EventLine> LastEvents(const std::vector<ListedObject>& events,
                                                const std::set<std::string>& names,
                                                std::size_t count);
// The history of its reasons: the last `count` events about the job itself and its PodGroup, oldest
// first. Those about its pods, which may be many, and about an earlier job of its name are left
// out. Pure.
[[nodiscard]] std::vector<EventLine> HistoryOf(const JobReport& job,
                                               const std::vector<ListedObject>& events,
                                               std::size_t count);

}  // namespace strata::inspect
