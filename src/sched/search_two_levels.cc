// The part of Search for jobs with sub-groups.
#include <algorithm>
#include <limits>
#include <utility>

#include "sched/search.h"

namespace strata {
namespace {

std::vector<std::string> HyperNodesOfSubJobs(const Job& job) {
  std::vector<std::string> names;
  for (const SubJob& sub_job : job.sub_jobs) names.push_back(sub_job.allocated_hypernode);
  return names;
}

// Thousands of sub-jobs under the largest weights could leave 64 bits; then more is no better.
Score Sum(Score a, Score b) {
  Score sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<Score>::max() : sum;
}

void RestoreHyperNodes(ClusterState& state, JobId job, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) state.SetAllocatedHyperNode(job, i, names[i]);
}

// True when a place that one task does not find may be there for the next, once others are placed.
bool WatchPeers(Session& session, std::span<const TaskId> tasks) {
  const ClusterState& state = session.state();
  if (state.classes_with_rules().empty()) return false;
  return std::any_of(tasks.begin(), tasks.end(), [&](TaskId id) {
    return session.View(state.task(id).class_id).Peers() != nullptr;
  });
}

}  // namespace

Score Search::ScoreOne(const SubJob& sub_job, const Resources& need, HyperNodeId id) const {
  const HyperNodeScoreQuery query{.sub_job = &sub_job, .pending = &need, .need = &need};
  Score total = 0;
  for (const auto& [plugin, point] : session_.points().hypernodes) {
    Score score = 0;
    point->ScoreHyperNodes(session_.state(), query, std::span(&id, 1), std::span(&score, 1));
    total += score;
  }
  return total;
}

bool Search::CanShareBoard(const Level& level, const Worksheet::Sheet& sheet, Pass pass) const {
  if (session_.tracing() || pass != Pass::kReady || level.allocated.valid() ||
      level.limit.kind != TopologyLimit::Kind::kBounded || WatchPeers(session_, sheet.left())) {
    return false;
  }
  const SubJob& sub_job = session_.state().job(level.job).sub_jobs[sheet.sub_job];
  const Resources pending = SumOf(session_.state(), sheet.left());
  const HyperNodeScoreQuery query{.sub_job = &sub_job, .pending = &pending, .need = &level.need};
  const auto& points = session_.points().hypernodes;
  return HasNothingPlaced(sub_job) &&
         sheet.left().size() == static_cast<std::size_t>(sub_job.min_available) &&
         std::all_of(points.begin(), points.end(), [&](const auto& named) {
           return named.point->ScoresAlone(query);
         });
}

std::optional<Search::Found> Search::FindAlike(const Level& level,
                                               Worksheet::Sheet& sheet,
                                               Boards& boards,
                                               Outcome& outcome) {
  const ClusterState& state = session_.state();
  const HyperNodeTree& tree = session_.tree();
  const SubJob& sub_job = state.job(level.job).sub_jobs[sheet.sub_job];
  const auto score = [&](HyperNodeId id) { return ScoreOne(sub_job, level.need, id); };
  Likeness likeness{.tier = level.limit.tier, .tasks = {}};
  for (const TaskId task : sheet.left()) ++likeness.tasks[state.task(task).class_id];
  auto it = boards.find(likeness);
  if (it == boards.end()) {
    Board fresh{.board = DomainBoard(tree, FindGradient(level)), .seen = state.Mark()};
    it = boards.emplace(std::move(likeness), std::move(fresh)).first;
  }
  auto& [board, seen] = it->second;
  ChainId last;
  for (const TaskId task : state.ChangedSince(seen)) {
    const ChainId chain = tree.ChainOf(state.task(task).node);
    if (chain == last) continue;
    last = chain;
    for (const HyperNodeId above : tree.HyperNodesOf(chain)) board.Refresh(above, score);
  }
  seen = state.Mark();
  while (const auto best = board.Best(score)) {
    if (TryIn(*best, level, sheet, Pass::kReady, outcome)) {
      return Found{.hypernode = *best, .by_plugin = {}, .score = board.ScoreOf(*best)};
    }
    board.Drop(*best);
  }
  return std::nullopt;
}

// Places the sub-jobs one after the other below `hypernode`, notes what came of it, and takes
// everything back.
std::optional<Search::Plan> Search::PlanBelow(
    JobId job, HyperNodeId hypernode, const Worksheet& worksheet, Pass pass, Outcome& outcome) {
  ClusterState& state = session_.state();
  const ClusterState::Savepoint begin = state.Mark();
  const std::vector<std::string> names_before = HyperNodesOfSubJobs(state.job(job));
  Plan plan{.hypernode = hypernode,
            .steps = {},
            .sub_job_hypernodes = {},
            .worksheet = worksheet,
            .found = {}};
  plan.found.hypernode = hypernode;
  Boards boards;
  bool ready = false;
  while (!ready) {
    Worksheet::Sheet* sheet = plan.worksheet.Next(session_);
    if (sheet == nullptr) break;
    const SubJob& sub_job = state.job(job).sub_jobs[sheet->sub_job];
    const Level level{
        .job = job,
        .sub_job = sub_job.name,
        .within = hypernode,
        .allocated = session_.tree().Find(sub_job.allocated_hypernode).value_or(HyperNodeId{}),
        .limit = session_.LimitOf(job, sheet->sub_job),
        .need = NeedOf(state, state.job(job), *sheet)};
    const auto found = CanShareBoard(level, *sheet, pass)
                           ? FindAlike(level, *sheet, boards, outcome)
                           : FindSubJob(level, *sheet, pass, outcome);
    if (!found) sheet->next = sheet->tasks.size();  // has no place here; the others may still do
    plan.worksheet.Reorder(session_, *sheet);
    if (!found) continue;
    RememberHyperNode(job, sheet->sub_job, found->hypernode);
    plan.found.score = Sum(plan.found.score, found->score);
    for (const auto& [plugin, score] : found->by_plugin) {
      plan.found.by_plugin[plugin] = Sum(plan.found.by_plugin[plugin], score);
    }
    ready = session_.JobReady(state.job(job));
  }
  for (const TaskId id : state.ChangedSince(begin)) {
    const Task& task = state.task(id);
    plan.steps.push_back({.task = id,
                          .node = task.node,
                          .idle = task.status == TaskStatus::kAllocated,
                          .gpus = state.GpusOf(id)});
  }
  const Job& the_job = state.job(job);
  const bool holds =
      session_.JobReady(the_job) || (pass == Pass::kWaiting && session_.JobPipelined(the_job));
  plan.sub_job_hypernodes = HyperNodesOfSubJobs(the_job);
  state.RollbackTo(begin);
  RestoreHyperNodes(state, job, names_before);
  if (!plan.steps.empty()) TraceDiscard(job, hypernode);
  if (plan.steps.empty() || !holds) return std::nullopt;
  return plan;
}

void Search::Adopt(JobId job, const Plan& plan, Worksheet& worksheet) {
  ClusterState& state = session_.state();
  for (const Plan::Step& step : plan.steps) {
    session_.Place(step.task,
                   step.node,
                   step.idle ? DevicePoint::When::kNow : DevicePoint::When::kFuture,
                   plan.hypernode,
                   step.gpus);
  }
  // Sub-jobs that had no place below this HyperNode may be tried again in a later turn.
  for (Worksheet::Sheet& sheet : worksheet.sheets()) {
    std::erase_if(sheet.tasks,
                  [&](TaskId id) { return state.task(id).status != TaskStatus::kPending; });
  }
  worksheet.Reorder(session_);
  RestoreHyperNodes(state, job, plan.sub_job_hypernodes);
  if (session_.LimitOf(job).kind == TopologyLimit::Kind::kBounded || state.job(job).HasTopology()) {
    RememberHyperNode(job, plan.hypernode);
  }
}

Search::Outcome Search::RunTwoLevels(JobId job, Worksheet& worksheet, Pass pass) {
  const HyperNodeTree& tree = session_.tree();
  const Level level{
      .job = job,
      .sub_job = "",
      .within = tree.top(),
      .allocated = tree.Find(session_.state().job(job).allocated_hypernode).value_or(HyperNodeId{}),
      .limit = session_.LimitOf(job),
      .need = NeedOf(session_, job, worksheet)};
  Outcome outcome;
  const Gradient gradient = FindGradient(level);
  for (const Gradient::Tier& tier : gradient.tiers) {
    TierScores scores;
    scores.hypernodes = tier.eligible;
    scores.total.assign(tier.eligible.size(), 0);
    std::vector<std::size_t> failed;
    std::optional<Plan> best;
    for (std::size_t i = 0; i < tier.eligible.size(); ++i) {
      auto plan = PlanBelow(job, tier.eligible[i], worksheet, pass, outcome);
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
      TraceScores(level, scores, failed, best ? best->hypernode : HyperNodeId{});
    }
    if (best) {
      Adopt(job, *best, worksheet);
      outcome.ok = true;
      return outcome;
    }
  }
  return outcome;
}

}  // namespace strata
