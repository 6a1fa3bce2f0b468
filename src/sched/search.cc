#include "sched/search.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sched/ring.h"
#include "sched/second_search.h"
#include "sched/two_level_search.h"

namespace strata {

namespace {

GangSearchSettings SettingsOf(const Session& session) {
  const GradientPoint* const point = session.plugins().points().gradient;
  return point == nullptr ? GangSearchSettings{} : point->GangSearch();
}

// One pod alone fits a node or none, as the greedy search says.
bool MayNeedSecondSearch(const Worksheet& worksheet) {
  const std::vector<Worksheet::Sheet>& sheets = worksheet.sheets();
  return sheets.size() > 1 || (!sheets.empty() && sheets.front().left().size() > 1);
}

}  // namespace

Search::Search(Session& session)
    : session_(session), settings_(SettingsOf(session)), level_search_(session, settings_) {}

Search::Outcome Search::RunBelow(HyperNodeId within, JobId job, Worksheet& worksheet, Pass pass) {
  session_.caches().Trim();
  std::optional<SecondSearch> second;
  if (settings_.second_budget > 0 && pass == Pass::kReady && MayNeedSecondSearch(worksheet)) {
    second.emplace(session_, settings_.second_budget);
  }
  const Errand errand{
      .within = within, .job = job, .pass = pass, .second = second ? &*second : nullptr};
  const Job& the_job = session_.state().workload().job(job);
  const Journal::Savepoint begin = session_.state().journal().Mark();
  Outcome outcome;
  if (!the_job.spec.sub_groups.empty()) {
    outcome =
        TwoLevelSearch(session_, level_search_, errand.second).Run(within, job, worksheet, pass);
  } else if (session_.topologies().LimitOf(job).kind == TopologyLimit::Kind::kBounded) {
    outcome = RunOneLevel(errand, worksheet);
  } else {
    outcome = RunFlat(errand, worksheet);
  }
  if (second) {
    outcome.cut = second->CutAt();
    if (!outcome.ok && !outcome.quota) outcome.quota = second->quota();
  }
  // With sub-groups the outcome is about one of them.
  const bool follows = outcome.follows_ranks && the_job.spec.sub_groups.empty();
  if (outcome.ok && pass == Pass::kReady && settings_.rank_order && !follows &&
      the_job.HasTopology()) {
    FollowRanks(session_, job, *worksheet.ranks(), begin);
  }
  return outcome;
}

Search::Outcome Search::RunFlat(const Errand& errand, Worksheet& worksheet) {
  Worksheet::Sheet& sheet = worksheet.sheets().front();
  const PlaceRequest request{.job = errand.job,
                             .sub_job = sheet.sub_job,
                             .tasks = sheet.left(),
                             .ranks = sheet.ranks.get(),
                             .domain = errand.within,
                             .pass = errand.pass};
  PlaceOutcome placed = level_search_.Place(request);
  if (placed.ok) sheet.next += placed.taken;
  Outcome outcome{.ok = placed.ok, .quota = std::move(placed.quota), .cut = {}};
  if (!outcome.ok && !outcome.quota && errand.second != nullptr && errand.second->MayHelp(sheet)) {
    outcome.ok = errand.second->PlaceFlat(errand.job, errand.within, sheet);
  } else {
    outcome.follows_ranks = placed.follows_ranks;
  }
  return outcome;
}

Search::Outcome Search::RunOneLevel(const Errand& errand, Worksheet& worksheet) {
  const HyperNodeTree& tree = session_.tree();
  const Job& the_job = session_.state().workload().job(errand.job);
  Worksheet::Sheet& sheet = worksheet.sheets().front();
  const SearchLevel level{
      .job = errand.job,
      .sub_job = "",
      .within = errand.within,
      .allocated = tree.Find(the_job.allocated_hypernode).value_or(HyperNodeId{}),
      .limit = session_.topologies().LimitOf(errand.job),
      .need = NeedOf(session_, errand.job, worksheet),
      .second = errand.second};
  Outcome outcome;
  const auto found = level_search_.Find(level, sheet, errand.pass, outcome);
  if (!found) return outcome;
  level_search_.ExtendAllocated(errand.job, sheet.sub_job, found->hypernode);
  level_search_.ExtendAllocated(errand.job, found->hypernode);
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
