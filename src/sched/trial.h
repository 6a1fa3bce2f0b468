#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"
#include "sched/node_chooser.h"
#include "sched/place_request.h"
#include "sched/session.h"

namespace strata {

// One attempt to place the tasks of one sub-job inside one HyperNode: task by task in their order,
// each on the node that NodeChooser finds best at that moment, until the sub-job is ready.
class Trial {
 public:
  // `kept` is the index to use when the domain is the whole cluster, else null.
  Trial(Session& session,
        const PlaceRequest& request,
        const DomainShape& shape,
        ClusterIndex* kept);

  // When ok the placements are in the state; otherwise everything is rolled back.
  [[nodiscard]] PlaceOutcome Run();

 private:
  enum class Attempt : std::uint8_t { kPlaced, kNoQuota, kNoNode, kPostponed };

  [[nodiscard]] Attempt Try(TaskId task, PlaceOutcome& outcome);
  // Tasks whose rules about other pods left them no node may find one beside pods placed after
  // them: tries them again until that places nothing.
  void RetryPostponed(PlaceOutcome& outcome);
  void Take(TaskId task, const NodeChooser::Choice& choice);
  // Makes all tasks placed since `begin` wait, also those whose node is idle: a sub-group that
  // waits for one of its pods starts none of them, and none of them counts for the job.
  void WaitAsOne(Journal::Savepoint begin);
  // After a task that fits nowhere: true when other tasks can still make up the minimum.
  [[nodiscard]] bool CanStillStart() const;
  [[nodiscard]] bool Succeeded() const;

  Session& session_;
  const PlaceRequest& request_;
  const DomainShape& shape_;
  const Job& job_;
  const SubJob& sub_job_;
  NodeChooser chooser_;
  std::map<ClassId, std::size_t> failed_;  // classes without a node, and what was placed by then
  std::vector<TaskId> postponed_;          // tasks that may find a node once others are placed
};

}  // namespace strata
