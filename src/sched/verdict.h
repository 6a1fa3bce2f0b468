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

// What the gang of the job asks for beyond all that the nodes of the cluster have, whoever holds
// it. None when the cluster, empty, has enough of everything: then quotas are a better answer.
[[nodiscard]] std::optional<Refusal> ExplainLargerThanCluster(const Session& session, JobId job);

// Why the job cannot start although nothing of it is refused: scheduling gates hold back too many
// of its pods. None when that is not so.
[[nodiscard]] std::optional<Refusal> ExplainGates(const Session& session, JobId job);

// Why a BestEffort task found no node below `domain`.
[[nodiscard]] Refusal ExplainBestEffort(Session& session, TaskId task, HyperNodeId domain);

// Why a BestEffort task was not tried: the rest of its gang comes first.
[[nodiscard]] Refusal ExplainHelper(const Session& session, TaskId task);

// The job holds nodes whose pods are still terminating.
[[nodiscard]] Refusal ExplainWaiting(const Session& session, JobId job);

}  // namespace strata
