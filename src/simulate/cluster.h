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
#include "objects/object_set.h"

namespace strata {

// A cluster read from manifests, before its first cycle.
struct SimulatedCluster {
  std::unique_ptr<ClusterState> state;
  LoadReport load;
  Time latest{};  // the latest time found in the objects: the clock of the run
  // PodGroups made for lone pods, by "ns/podgroup": they belong to their pod and go with it.
  std::set<std::string, std::less<>> made_groups;
  // "ns/job" -> "ns/podgroup", so that people may name the Job they wrote.
  std::map<std::string, std::string, std::less<>> group_of_job;
};

// Completes the objects as the controllers of a cluster would (Jobs get PodGroup and pods, lone
// pods a PodGroup of their own) and puts them into a state. Pure.
//
// kInvalidArgument, one line that names file, object and field, when an amount is too large or a
// pod's annotations make no PodGroup.
[[nodiscard]] Result<SimulatedCluster> BuildCluster(objects::ObjectSet objects);

// Whether simulate schedules the pod: its schedulerName is volcano, strata, default-scheduler or
// hami-scheduler.
[[nodiscard]] bool IsOurs(const objects::Pod& pod);

// The latest creation, deletion or transition time of any object; the epoch when there is none.
[[nodiscard]] Time LatestTime(const objects::ObjectSet& objects);

}  // namespace strata
