#pragma once

#include <optional>

#include "base/ids.h"
#include "sched/search.h"
#include "sched/session.h"
#include "sched/worksheet.h"

// The sentences for jobs that wait. The words used as reasons are listed in docs/reasons.md.
namespace strata {

[[nodiscard]] Refusal QueueNotFound(const Job& job);

// Why what is left on the worksheet has no place: per tier the nearest miss, and what is short
// there. COST: one pass over the nodes per tier, whatever the size of the gang.
[[nodiscard]] Refusal ExplainUnplaced(Session& session,
                                      Search& search,
                                      JobId job,
                                      const Worksheet& worksheet,
                                      const std::optional<Refusal>& quota);

// The refusal of a quota, told so that nobody looks for the fault in the queue alone: a gang larger
// than the whole cluster is told just that; else what of `asked` the cluster has not free is added.
[[nodiscard]] Refusal NotTheQueueAlone(const Session& session,
                                       JobId job,
                                       Refusal refusal,
                                       const Resources& asked);

// Why the job cannot start although nothing of it is refused: scheduling gates hold back too many
// of its pods. None when that is not so.
[[nodiscard]] std::optional<Refusal> ExplainGates(const Session& session, JobId job);

// Why a BestEffort task found no node below `domain`.
[[nodiscard]] Refusal ExplainBestEffort(Session& session, TaskId task, HyperNodeId domain);

// Why a BestEffort task was not tried: the rest of its gang comes first.
[[nodiscard]] Refusal ExplainHelper(const Session& session, TaskId task);

// Why a job that has no other verdict waits although nothing was tried: no configured action does
// what it needs. None when there is such an action.
[[nodiscard]] std::optional<Refusal> ExplainNoAction(const Session& session, JobId job);

// The job holds nodes whose pods are still terminating.
[[nodiscard]] Refusal ExplainWaiting(const Session& session, JobId job);

}  // namespace strata
