#pragma once

#include "base/result.h"
#include "sched/registry.h"

namespace strata {

// Divides the cluster among the queues by weight (queue_shares.h), once per cycle. Serves
// OrderPoint (queues: higher priority first, then the smaller share of what is deserved),
// QuotaPoint and JobGatePoint (Enqueueable, OnEnqueued). No arguments.
//
//   * A queue is overused once it has what it deserves of every resource.
//   * A queue may have more while what it has and the request stay within what it deserves, in
//     every requested resource but `pods`. Refusals: QueueClosed, and those of LimitKind.
//   * A job may enter when its minResources, what the queue has and has promised to jobs that have
//     entered, less what elastic jobs have beyond their minimum, stay within the queue's real
//     capability. A job without minResources may always enter an open queue. Same refusals.
//
// Comparisons allow one unit (a milli-CPU, a byte, a thousandth).
[[nodiscard]] Result<MadePlugin> MakeProportion(const PluginConfig& config,
                                                ResourceNames& resources);

}  // namespace strata
