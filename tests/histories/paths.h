#pragma once

// Where the objects of a history are.
namespace strata::histories {

inline constexpr const char* kPods = "/api/v1/namespaces/default/pods";
inline constexpr const char* kJobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
inline constexpr const char* kGroups =
    "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
inline constexpr const char* kLeases =
    "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases";

}  // namespace strata::histories
