#include "sched/two_level_search.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "sched/similar_sub_jobs.h"

namespace strata {
namespace {

std::vector<std::string> HyperNodesOfSubJobs(const Job& job) {
  std::vector<std::string> names;
  for (const SubJob& sub_job : job.sub_jobs) names.push_back(sub_job.allocated_hypernode);
  return names;
}

// Saturates: thousands of sub-jobs with the largest weights could exceed 64 bits.
Score Sum(Score a, Score b) {
  Score sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<Score>::max() : sum;
}

bool IsNowhere(const Job& job) {
  return job.allocated_hypernode.empty() &&
         job.counts.Of(TaskStatus::kPending) == job.counts.Total() &&
         std::all_of(job.sub_jobs.begin(), job.sub_jobs.end(), [](const SubJob& sub_job) {
           return sub_job.allocated_hypernode.empty();
         });
}

std::size_t PodsLeft(const Worksheet& worksheet) {
  std::size_t pods = 0;
  for (const Worksheet::Sheet& sheet : worksheet.sheets()) pods += sheet.left().size();
  return pods;
}

}  // namespace

SearchOutcome TwoLevelSearch::Run(HyperNodeId within, JobId job, Worksheet& worksheet, Pass pass) {
  session_.caches().TrimKinds();
  const HyperNodeTree& tree = session_.tree();
  const SearchLevel level{
      .job = job,
      .sub_job = "",
      .within = within,
      .allocated = tree.Find(session_.state().workload().job(job).allocated_hypernode)
                       .value_or(HyperNodeId{}),
      .limit = session_.topologies().LimitOf(job),
      .need = NeedOf(session_, job, worksheet)};
  SearchOutcome outcome;
  const Gradient gradient = search_.FindGradient(level);
  for (const Gradient::Tier& tier : gradient.tiers) {
    if (const auto best = PlanInTier(level, tier, worksheet, pass, outcome)) {
      Adopt(job, *best, worksheet);
      outcome.ok = true;
      break;
    }
    if (second_ != nullptr && !outcome.quota && FindAgain(level, tier, worksheet)) {
      outcome.ok = true;
      break;
    }
  }
  return outcome;
}

bool TwoLevelSearch::FindAgain(const SearchLevel& level,
                               const Gradient::Tier& tier,
                               Worksheet& worksheet) {
  if (!IsNowhere(session_.state().workload().job(level.job))) return false;
  std::vector<std::size_t> failed;
  for (const HyperNodeId hypernode : tier.eligible) {
    if (!second_->PlaceParts(level.job, hypernode, worksheet)) {
      failed.push_back(failed.size());
      continue;
    }
    if (session_.tracing()) {
      TierScores scores;
      scores.hypernodes = tier.eligible;
      scores.total.assign(tier.eligible.size(), 0);
      TraceScores(session_, level, scores, failed, hypernode);
    }
    return true;
  }
  return false;
}

std::optional<TwoLevelSearch::Plan> TwoLevelSearch::PlanInTier(const SearchLevel& level,
                                                               const Gradient::Tier& tier,
                                                               const Worksheet& worksheet,
                                                               Pass pass,
                                                               SearchOutcome& outcome) {
  const bool compares = tier.eligible.size() > 1 && !session_.tracing() && pass == Pass::kReady;
  DomainKinds* const kinds = compares ? KindsForAll(level.job, worksheet) : nullptr;
  const std::size_t pods = PodsLeft(worksheet);
  session_.Look(tier.eligible.size());
  const bool alone = tier.eligible.size() == 1 && !session_.tracing();
  std::set<DomainKinds::Likeness> tried;
  TierScores scores;
  scores.hypernodes = tier.eligible;
  scores.total.assign(tier.eligible.size(), 0);
  std::vector<std::size_t> failed;
  std::optional<Plan> best;
  for (std::size_t i = 0; i < tier.eligible.size(); ++i) {
    const HyperNodeId hypernode = tier.eligible[i];
    // The kinds of leaves are cached for all jobs of a cycle.
    if (kinds != nullptr && (DomainKinds::IsLeaf(session_.tree(), hypernode) ||
                             IsKindWorthItsCost(session_.tree(), hypernode, pods))) {
      const auto likeness = kinds->LikenessOf(hypernode);
      // The result would be the same, and the first of equal plans is taken.
      if (likeness && !tried.insert(*likeness).second) continue;
    }
    SearchLevel within = level;
    within.within = hypernode;
    auto plan = PlanBelow(within, worksheet, pass, alone ? Rivals::kNone : Rivals::kSome, outcome);
    if (!plan) {
      failed.push_back(i);
      continue;
    }
    scores.total[i] = plan->found.score;
    for (const auto& [plugin, score] : plan->found.by_plugin) {
      auto& row = scores.by_plugin[plugin];
      row.resize(tier.eligible.size(), 0);
      row[i] = score;
    }
    if (!best || plan->found.score > best->found.score) best = std::move(plan);
  }
  if (session_.tracing() && !tier.eligible.empty()) {
    TraceScores(session_, level, scores, failed, best ? best->hypernode : HyperNodeId{});
  }
  return best;
}

std::optional<TwoLevelSearch::Plan> TwoLevelSearch::PlanBelow(const SearchLevel& level,
                                                              const Worksheet& worksheet,
                                                              Pass pass,
                                                              Rivals rivals,
                                                              SearchOutcome& outcome) {
  ClusterState& state = session_.state();
  const Job& job = state.workload().job(level.job);
  const Journal::Savepoint begin = state.journal().Mark();
  Plan plan{.hypernode = level.within,
            .steps = {},
            .sub_job_hypernodes = {},
            .worksheet = worksheet,
            .found = {}};
  plan.found.hypernode = level.within;
  PlaceSubJobs(level, pass, plan, outcome);
  const bool holds = session_.plugins().JobReady(job) ||
                     (pass == Pass::kWaiting && session_.plugins().JobPipelined(job));
  const bool placed = state.journal().Mark() > begin;
  plan.sub_job_hypernodes = HyperNodesOfSubJobs(job);
  plan.in_place = placed && holds && rivals == Rivals::kNone;
  if (plan.in_place) return plan;
  for (const TaskId id : state.journal().PlacedSince(begin)) {
    const Task& task = state.workload().task(id);
    plan.steps.push_back({.task = id,
                          .node = task.node,
                          .idle = task.status == TaskStatus::kAllocated,
                          .gpus = state.workload().GpusOf(id)});
  }
  state.journal().RollbackTo(begin);
  if (placed) TraceDiscard(session_, level.job, level.within);
  if (!placed || !holds) return std::nullopt;
  return plan;
}

void TwoLevelSearch::PlaceSubJobs(const SearchLevel& level,
                                  Pass pass,
                                  Plan& plan,
                                  SearchOutcome& outcome) {
  const ClusterState& state = session_.state();
  const Job& job = state.workload().job(level.job);
  SimilarSubJobs similar(session_, search_);
  while (Worksheet::Sheet* sheet = plan.worksheet.Next(session_)) {
    const SubJob& sub_job = job.sub_jobs[sheet->sub_job];
    const SearchLevel below{
        .job = level.job,
        .sub_job = sub_job.name,
        .within = level.within,
        .allocated = session_.tree().Find(sub_job.allocated_hypernode).value_or(HyperNodeId{}),
        .limit = session_.topologies().LimitOf(level.job, sheet->sub_job),
        .need = NeedOf(state, job, *sheet)};
    const auto found = similar.Serves(below, *sheet, pass)
                           ? similar.Find(below, *sheet, outcome)
                           : search_.Find(below, *sheet, pass, outcome);
    if (!found) sheet->next = sheet->tasks.size();  // no place here; the others may have one
    const std::size_t placed = sheet->sub_job;
    plan.worksheet.Reorder(session_, *sheet);
    if (!found) continue;
    search_.ExtendAllocated(level.job, placed, found->hypernode);
    plan.found.score = Sum(plan.found.score, found->score);
    for (const auto& [plugin, score] : found->by_plugin) {
      plan.found.by_plugin[plugin] = Sum(plan.found.by_plugin[plugin], score);
    }
    if (session_.plugins().JobReady(job)) return;
  }
}

void TwoLevelSearch::Adopt(JobId job, const Plan& plan, Worksheet& worksheet) {
  ClusterState& state = session_.state();
  for (const Plan::Step& step : plan.steps) {  // none when it is in place
    session_.Place(step.task,
                   step.node,
                   step.idle ? DevicePoint::When::kNow : DevicePoint::When::kFuture,
                   plan.hypernode,
                   step.gpus);
  }
  // Sub-jobs that had no place below this HyperNode may be tried again in a later turn.
  for (Worksheet::Sheet& sheet : worksheet.sheets()) {
    std::erase_if(sheet.tasks, [&](TaskId id) {
      return state.workload().task(id).status != TaskStatus::kPending;
    });
  }
  worksheet.Reorder(session_);
  for (std::size_t i = 0; i < plan.sub_job_hypernodes.size(); ++i) {
    state.journal().SetDomain(job, i, plan.sub_job_hypernodes[i]);
  }
  if (session_.topologies().LimitOf(job).kind == TopologyLimit::Kind::kBounded ||
      state.workload().job(job).HasTopology()) {
    search_.ExtendAllocated(job, plan.hypernode);
  }
}

DomainKinds* TwoLevelSearch::KindsForAll(JobId job, const Worksheet& worksheet) {
  const ClusterState& state = session_.state();
  if (!IsNowhere(state.workload().job(job))) return nullptr;
  std::vector<ClassId> classes;
  for (const Worksheet::Sheet& sheet : worksheet.sheets()) {
    for (const ClassId id : WithoutDuplicates(ClassesOf(state, sheet.left()))) {
      classes.push_back(id);
    }
  }
  return KindsFor(session_, job, std::move(classes));
}

}  // namespace strata
