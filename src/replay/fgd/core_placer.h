#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "replay/fabric.h"
#include "replay/fgd/fill.h"
#include "replay/fgd/pod_list.h"
#include "sched/config.h"

namespace strata::replay::fgd {

// The typical pods of a list in the form of fragmentation.typicalPods.
[[nodiscard]] std::string TypicalPodsText(const PodList& list);

// The scheduler itself, one cycle for each pod, on nodes that register their GPUs as HAMi's agent
// does. Nodes are named by the order that is drawn from the seed, so that of equal nodes the first
// of it is taken, as by the rules. Where the configuration has the plugin fragmentation and says
// nothing of its pods, it measures by the typical pods of the list, as the authors' program does.
//
// kInvalidArgument for a share that is not a whole per cent of a GPU, or when the configuration cannot
// be used. REQUIRES: list and fabric outlive it.
[[nodiscard]] Result<std::unique_ptr<Placer>> MakeCorePlacer(const SchedulerConfig& config,
                                                             const PodList& list,
                                                             const Fabric& fabric,
                                                             std::uint64_t seed);

}  // namespace strata::replay::fgd
