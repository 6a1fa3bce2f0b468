#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "objects/job.h"
#include "objects/object_set.h"
#include "objects/pod_group.h"
#include "objects/priority.h"

// What Volcano's job controller makes of a Job. Pure; jobs have the webhook's defaults
// (objects/load.h).
namespace strata::objects {

// "<job>-<uid>".
[[nodiscard]] std::string PodGroupNameOf(const Job& job);

// How what a job makes refers to it: as its controller.
[[nodiscard]] OwnerReference OwnerOf(const Job& job);

// The claim of spec.volumes[volume]: the named one, or the one the controller makes.
// REQUIRES: volume < job.volumes.size().
[[nodiscard]] std::string ClaimNameFor(const Job& job, std::size_t volume);

// "<job>-<task>-<index>".
[[nodiscard]] std::string PodNameOf(const Job& job, const JobTask& task, std::int32_t index);

// Name, labels, annotations and owner of that pod of the group `pod_group`; no uid yet.
// REQUIRES: 0 <= index < task.replicas.
[[nodiscard]] Metadata PodMetadataOf(const Job& job,
                                     const JobTask& task,
                                     std::int32_t index,
                                     const std::string& pod_group);

// The PodGroup of the job, in phase Pending. minResources is what its first minAvailable pods
// count in ResourceQuotas (QuotaUsage): tasks by priority of their pods, highest first, of each its
// own minAvailable before any of the rest.
[[nodiscard]] PodGroup MakePodGroup(const Job& job, const PriorityTable& priorities);

// Pod <job>-<task>-<index> of the group `pod_group`.
// REQUIRES: 0 <= index < task.replicas.
[[nodiscard]] Pod MakePod(const Job& job,
                          const JobTask& task,
                          std::int32_t index,
                          const std::string& pod_group);

// Which PodGroup is whose: "namespace/podgroup" by "namespace/job". Among those in `objects` the
// one named <job>-<uid>, else the one named <job> if it is nobody else's; where there is none the
// one to be made, <job>-<uid>. What has another controller is not the job's.
[[nodiscard]] std::map<std::string, std::string, std::less<>> GroupsOfJobs(
    const ObjectSet& objects);

// Adds the PodGroups, pods and claims (<job>-pvc-<i>, where Volcano has random letters) of all jobs
// that still make pods, except what is there already: a PodGroup is adopted by GroupsOfJobs, a pod
// of the right name is kept and gets what it lacks of the labels, annotations and owner that the
// controller writes. A pod that names another PodGroup or has another controller is not the job's,
// which is a warning. The set stays sorted, its warnings too.
//
// kInvalidArgument, one line that names file and job, when one asks for more than a million pods,
// its PodGroup would have the name of another's, or its minimum does not fit into 64 bits.
//
// `makes_pods` leaves out the jobs for which it says no; without it nothing is left out.
using MakesPods = std::function<bool(const Job&)>;
[[nodiscard]] Status ExpandJobs(ObjectSet& objects, const MakesPods& makes_pods = {});

}  // namespace strata::objects
