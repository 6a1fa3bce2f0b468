#pragma once

#include "base/ids.h"
#include "model/journal.h"
#include "sched/session.h"
#include "sched/worksheet.h"

namespace strata {

// Gives the tasks of the job that were placed since `begin` the nodes among them in another order,
// if fewer edges of their ring then cross a leaf: the ring of the tasks by rank, from the last one
// back to the first. Only tasks of one class and one sub-job exchange nodes, so that nothing else
// about the placement changes; when all are equal, as few edges cross as the nodes allow.
//
// COST: O(tasks of the job) when that is so already.
void FollowRanks(Session& session, JobId job, const RankOrder& ranks, Journal::Savepoint begin);

}  // namespace strata
