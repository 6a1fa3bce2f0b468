#pragma once

#include <optional>

#include "base/ids.h"
#include "sched/search.h"
#include "sched/session.h"
#include "sched/worksheet.h"

// Verdicts: why a job waits, as a reason of docs/reasons.md and a sentence.
namespace strata {

[[nodiscard]] Refusal QueueNotFound(const Job& job);

// Why the tasks left on the worksheet found no place: for each tier the HyperNode that came
// nearest, and what is short there. COST: one pass over the nodes per tier, independent of the
// gang's size.
[[nodiscard]] Refusal ExplainUnplaced(Session& session,
                                      Search& search,
                                      JobId job,
                                      const Worksheet& worksheet,
                                      const std::optional<Refusal>& quota);

// Adds to the refusal of a quota what the cluster itself lacks, so that nobody raises the quota in
// vain: which of `asked`, as it counts, the whole cluster does not have free. A gang larger than
// the whole cluster gets a refusal that says just that.
[[nodiscard]] Refusal AddClusterShortage(const Session& session,
                                         JobId job,
                                         Refusal refusal,
                                         const Resources& asked);

// The verdict when scheduling gates hold back so many pods that the gang cannot start; else none.
[[nodiscard]] std::optional<Refusal> ExplainGates(const Session& session, JobId job);

// Why a BestEffort task found no node below `domain`.
[[nodiscard]] Refusal ExplainBestEffort(Session& session, TaskId task, HyperNodeId domain);

// Why a BestEffort task was not tried: its gang is not ready yet.
[[nodiscard]] Refusal ExplainHelper(const Session& session, TaskId task);

// The verdict for a job without another one, for which no configured action does what it needs;
// none when there is such an action.
[[nodiscard]] std::optional<Refusal> ExplainNoAction(const Session& session, JobId job);

// The verdict for a job that holds places whose pods are still terminating.
[[nodiscard]] Refusal ExplainWaiting(const Session& session, JobId job);

}  // namespace strata
