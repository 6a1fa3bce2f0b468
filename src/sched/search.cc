#include "sched/search.h"

#include <span>
#include <utility>

#include "sched/two_level_search.h"

namespace strata {

Search::Outcome Search::RunBelow(HyperNodeId within, JobId job, Worksheet& worksheet, Pass pass) {
  session_.caches().Trim();
  const Job& the_job = session_.state().workload().job(job);
  if (!the_job.spec.sub_groups.empty()) {
    return TwoLevelSearch(session_, level_search_).Run(within, job, worksheet, pass);
  }
  if (session_.topologies().LimitOf(job).kind == TopologyLimit::Kind::kBounded) {
    return RunOneLevel(within, job, worksheet, pass);
  }
  return RunFlat(within, job, worksheet, pass);
}

Search::Outcome Search::RunFlat(HyperNodeId within, JobId job, Worksheet& worksheet, Pass pass) {
  Worksheet::Sheet& sheet = worksheet.sheets().front();
  const PlaceRequest request{.job = job,
                             .sub_job = sheet.sub_job,
                             .tasks = sheet.left(),
                             .ranks = sheet.ranks.get(),
                             .domain = within,
                             .pass = pass};
  PlaceOutcome placed = level_search_.Place(request);
  if (placed.ok) sheet.next += placed.taken;
  return {.ok = placed.ok, .quota = std::move(placed.quota)};
}

Search::Outcome Search::RunOneLevel(HyperNodeId within,
                                    JobId job,
                                    Worksheet& worksheet,
                                    Pass pass) {
  const HyperNodeTree& tree = session_.tree();
  const Job& the_job = session_.state().workload().job(job);
  Worksheet::Sheet& sheet = worksheet.sheets().front();
  const SearchLevel level{
      .job = job,
      .sub_job = "",
      .within = within,
      .allocated = tree.Find(the_job.allocated_hypernode).value_or(HyperNodeId{}),
      .limit = session_.topologies().LimitOf(job),
      .need = NeedOf(session_, job, worksheet)};
  Outcome outcome;
  const auto found = level_search_.Find(level, sheet, pass, outcome);
  if (!found) return outcome;
  level_search_.ExtendAllocated(job, sheet.sub_job, found->hypernode);
  level_search_.ExtendAllocated(job, found->hypernode);
  outcome.ok = true;
  return outcome;
}

bool Search::PlaceBestEffort(TaskId task, HyperNodeId domain) {
  session_.caches().Trim();
  const Task& the_task = session_.state().workload().task(task);
  const PlaceRequest request{.job = the_task.job,
                             .sub_job = the_task.sub_job,
                             .tasks = std::span(&task, 1),
                             .domain = domain,
                             .pass = Pass::kReady,
                             .ask_quota = false};
  return level_search_.Place(request).ok;
}

void Search::ExtendAllocatedBy(TaskId task, HyperNodeId domain) {
  const HyperNodeTree& tree = session_.tree();
  const Task& the_task = session_.state().workload().task(task);
  const bool bounded =
      session_.topologies().LimitOf(the_task.job).kind == TopologyLimit::Kind::kBounded ||
      session_.topologies().LimitOf(the_task.job, the_task.sub_job).kind ==
          TopologyLimit::Kind::kBounded;
  if (!bounded) return;
  // A node may be in two trees; its leaf alone does not say by which of them it was found.
  const HyperNodeId place =
      domain == tree.top() ? tree.LeafOf(tree.ChainOf(the_task.node)) : domain;
  level_search_.ExtendAllocated(the_task.job, the_task.sub_job, place);
  level_search_.ExtendAllocated(the_task.job, place);
}

Search::Rehearsal Search::Rehearse(PlaceRequest request) {
  const Session::Silence silence(session_);
  const Journal::Savepoint begin = session_.state().journal().Mark();
  Rehearsal rehearsal;
  request.obstacles = &rehearsal.obstacles;
  rehearsal.placed = level_search_.Place(request).placed;
  session_.state().journal().RollbackTo(begin);
  return rehearsal;
}

}  // namespace strata
