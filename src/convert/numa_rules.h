#pragma once

#include <optional>
#include <set>
#include <string_view>

#include "base/result.h"
#include "model/numa.h"
#include "objects/numa_topology.h"
#include "objects/pod.h"

// NUMA as the core sees it. Errors name the field, not the object.
namespace strata {

// "0-3,8" as the CPUs it names. kInvalidArgument for anything else, and for CPUs above 65535.
[[nodiscard]] Result<std::set<std::int32_t>> ParseCpuSet(std::string_view text);

// What is free of a NUMA node is what `numares.cpu.allocatable` has of it, less the CPUs that
// `resReserved` keeps back: the first cores of the first socket, as the kubelet takes them.
[[nodiscard]] Result<NumaSpec> ToNumaSpec(const objects::NumaTopology& topology);

// The policy of the annotation volcano.sh/numa-topology-policy and the CPUs that its containers
// will hold alone: whole ones, of Guaranteed pods only. Nothing for other pods. An unknown policy
// is an error, unless the pod has its node already.
[[nodiscard]] Result<NumaRules> ToNumaRules(const objects::Pod& pod);

}  // namespace strata
