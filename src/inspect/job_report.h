#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "inspect/live_cluster.h"
#include "objects/meta.h"

namespace strata::inspect {

// A Job of a running cluster, with what has become of it.
struct JobReport {
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

  kube::ObjectKey key;
  std::string uid;
  std::string phase;  // of the Job
  std::string queue;
  std::string group;  // its PodGroup; "" while there is none
  std::size_t ready = 0;
  std::size_t total = 0;
  std::int32_t min_available = 0;
  std::string domain;  // the lowest HyperNode that holds its pods; "" when none does
  std::int32_t tier = 0;
  Time created{};
  std::string reason;   // why it waits or ended: a word, "" when all is well
  std::string message;  // and the sentence
  std::vector<Task> tasks;
  std::vector<Pod> pods;                       // by leaf and name
  std::vector<objects::Condition> conditions;  // of the PodGroup
};

// The objects of a cluster that describe its Jobs. JSON texts.
struct JobObjects {
  std::vector<ListedObject> jobs;
  std::vector<ListedObject> others;  // PodGroups, pods, nodes, HyperNodes
};
// "" is every namespace.
[[nodiscard]] Result<JobObjects> ReadJobObjects(LiveCluster& cluster, const std::string& ns);

// Pure. Ascending by (namespace, name). What cannot be read is left out; `warnings` say so.
[[nodiscard]] Result<std::vector<JobReport>> MakeJobReports(const JobObjects& objects,
                                                            std::vector<std::string>& warnings);

// One line of a Job's history.
struct EventLine {
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

}  // namespace strata::inspect
