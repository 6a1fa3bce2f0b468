#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "convert/load_cluster.h"
#include "model/cluster_state.h"
#include "objects/expand_job.h"
#include "objects/object_set.h"

namespace strata {

// Objects as the controllers of a cluster would have completed them: Jobs have their PodGroups and
// pods, lone pods a PodGroup of their own. One set may be loaded many times, changed in between.
struct CompletedObjects {
  TakesPod takes;  // which pods are to be scheduled; the others only take room
  objects::ObjectSet objects;
  Time latest{};
  std::set<std::string, std::less<>> made_groups;
  std::map<std::string, std::string, std::less<>> group_of_job;
};

// A cluster read from manifests, before its first cycle.
struct LoadedCluster {
  std::unique_ptr<ClusterState> state;
  LoadReport load;
  Time latest{};  // the latest time found in the objects: the clock of the run
  // PodGroups made for lone pods, by "ns/podgroup": they belong to their pod and go with it.
  std::set<std::string, std::less<>> made_groups;
  // "ns/job" -> "ns/podgroup", so that people may name the Job they wrote.
  std::map<std::string, std::string, std::less<>> group_of_job;
};

// Whether simulate schedules the pod: its schedulerName is volcano, strata, default-scheduler or
// hami-scheduler.
[[nodiscard]] bool IsOurs(const objects::Pod& pod);

// Pure. kInvalidArgument, one line that names file, object and field, when a Job has too many pods
// or a pod's annotations make no PodGroup. `makes_pods` as in ExpandJobs: of a running cluster,
// whose controllers have made what they can, most Jobs are to stay as they are.
[[nodiscard]] Result<CompletedObjects> CompleteObjects(objects::ObjectSet objects,
                                                       TakesPod takes = IsOurs,
                                                       const objects::MakesPods& makes_pods = {});

// Whether the pod waits and no scheduler has said anything about it. That a scheduler of ours has
// said so ("no scheduler with the name ...") does not count.
[[nodiscard]] bool NobodyLooked(const objects::Pod& pod);

// A line for each schedulerName of pending pods that nobody here serves and no other scheduler has
// looked at: they are ignored, which somebody who misspelt the name is to know.
[[nodiscard]] std::vector<std::string> OtherSchedulers(const CompletedObjects& completed);

// Puts completed objects into a state. Pure. kInvalidArgument, likewise, when an amount is too
// large.
[[nodiscard]] Result<LoadedCluster> LoadCompleted(const CompletedObjects& completed);

// Both at once.
[[nodiscard]] Result<LoadedCluster> BuildCluster(objects::ObjectSet objects);

// The latest creation, deletion or transition time of any object; the epoch when there is none.
[[nodiscard]] Time LatestTime(const objects::ObjectSet& objects);

}  // namespace strata
