#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/numa.h"

// How the kubelet's CPU and topology managers would share out whole CPUs, in numbers: which CPU of
// a NUMA node it is does not matter here.
namespace strata {

// One container takes `cpus` CPUs out of `free`, one number per NUMA node: of the fewest NUMA nodes
// that have them, of equally few those with the lower numbers. False when `policy` turns the
// container away; `free` is as before then. best-effort and none reject no container, and take what
// is there.
[[nodiscard]] bool TakeCpus(NumaPolicy policy,
                            std::span<const NumaCell> cells,
                            std::int32_t cpus,
                            std::vector<std::int32_t>& free);

// The containers of a pod, one after the other, under the policy of the node: how many NUMA nodes
// they take CPUs of, or none when one of them is turned away. `free` is then as before.
[[nodiscard]] std::optional<std::int32_t> TakePod(const NumaSpec& node,
                                                  const NumaRules& pod,
                                                  std::vector<std::int32_t>& free);

}  // namespace strata
