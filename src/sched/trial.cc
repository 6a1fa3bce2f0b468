#include "sched/trial.h"

#include <utility>

#include "base/check.h"

namespace strata {

Trial::Trial(Session& session,
             const PlaceRequest& request,
             const DomainShape& shape,
             ClusterIndex* kept)
    : session_(session),
      request_(request),
      shape_(shape),
      job_(session.state().workload().job(request.job)),
      sub_job_(job_.sub_jobs[request.sub_job]),
      chooser_(session, request, shape, kept) {
  CHECK(request.ranks != nullptr || request.tasks.size() <= 1);
}

PlaceOutcome Trial::Run() {
  PlaceOutcome outcome;
  ClusterState& state = session_.state();
  const Journal::Savepoint begin = state.journal().Mark();
  bool stop = shape_.nodes.empty();
  while (!stop && outcome.taken < request_.tasks.size()) {
    const TaskId task = request_.tasks[outcome.taken];
    ++outcome.taken;
    switch (Try(task, outcome)) {
      case Attempt::kPlaced:
        stop = session_.plugins().SubJobReady(job_, sub_job_);
        break;
      case Attempt::kNoNode:
        stop = !CanStillStart();
        break;
      case Attempt::kNoQuota:
      case Attempt::kPostponed:
        break;
    }
  }
  const bool in_order = postponed_.empty();
  RetryPostponed(outcome);
  outcome.ok = outcome.placed > 0 && Succeeded();
  outcome.leaves = chooser_.leaves();
  outcome.follows_ranks = in_order && chooser_.EntersLeavesOnce();
  if (!outcome.ok) state.journal().RollbackTo(begin);
  if (outcome.ok && sub_job_.key && !session_.plugins().SubJobReady(job_, sub_job_)) {
    WaitAsOne(begin);
  }
  return outcome;
}

void Trial::WaitAsOne(Journal::Savepoint begin) {
  ClusterState& state = session_.state();
  const std::vector<TaskId> tasks = state.journal().PlacedSince(begin);
  std::vector<std::pair<NodeId, GpuClaim>> places;
  places.reserve(tasks.size());
  for (const TaskId id : tasks) {
    places.emplace_back(state.workload().task(id).node, state.workload().GpusOf(id));
  }
  state.journal().RollbackTo(begin);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    state.journal().Pipeline(tasks[i], places[i].first, std::move(places[i].second));
  }
}

Trial::Attempt Trial::Try(TaskId task, PlaceOutcome& outcome) {
  const ClusterState& state = session_.state();
  const ClassId class_id = state.workload().task(task).class_id;
  if (request_.ask_quota) {
    auto refusal = session_.plugins().Exhausted(task);
    if (refusal) {
      outcome.quota = std::move(refusal);
      return Attempt::kNoQuota;
    }
  }
  // Tasks of one class fit everywhere or nowhere; a placement since may have changed that only
  // where rules look at other pods.
  const auto failed = failed_.find(class_id);
  const bool hopeless =
      failed != failed_.end() &&
      (failed->second == outcome.placed || session_.views().Of(class_id).Peers() == nullptr);
  if (const auto choice = hopeless ? std::nullopt : chooser_.Choose(task)) {
    Take(task, *choice);
    ++outcome.placed;
    return Attempt::kPlaced;
  }
  if (!hopeless && request_.obstacles != nullptr) {
    *request_.obstacles = FindObstacles(session_, class_id, shape_.nodes);
  }
  failed_[class_id] = outcome.placed;
  if (session_.views().Of(class_id).Peers() == nullptr) return Attempt::kNoNode;
  postponed_.push_back(task);
  return Attempt::kPostponed;
}

void Trial::RetryPostponed(PlaceOutcome& outcome) {
  std::size_t placed_before = 0;
  while (!postponed_.empty() && placed_before < outcome.placed) {
    placed_before = outcome.placed;
    for (const TaskId task : std::exchange(postponed_, {})) {
      if (session_.plugins().SubJobReady(job_, sub_job_)) return;
      static_cast<void>(Try(task, outcome));
    }
  }
}

bool Trial::Succeeded() const {
  if (session_.plugins().SubJobReady(job_, sub_job_)) return true;
  return request_.pass == Pass::kWaiting && session_.plugins().SubJobPipelined(job_, sub_job_);
}

bool Trial::CanStillStart() const {
  if (job_.spec.min_available == job_.counts.Total()) return false;
  return job_.spec.sub_groups.empty() || sub_job_.min_available < sub_job_.counts.Total();
}

void Trial::Take(TaskId task, const NodeChooser::Choice& choice) {
  session_.Place(task,
                 shape_.nodes[choice.position],
                 choice.idle ? DevicePoint::When::kNow : DevicePoint::When::kFuture,
                 request_.domain);
  chooser_.OnPlaced(choice);
}

}  // namespace strata
