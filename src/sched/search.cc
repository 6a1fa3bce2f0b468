#include "sched/search.h"

#include <algorithm>
#include <utility>

namespace strata {

Search::Outcome Search::Run(JobId job, Worksheet& worksheet, Pass pass) {
  if (session_.ForgetSurplusViews()) ForgetViews();  // nobody holds one between two jobs
  const Job& the_job = session_.state().job(job);
  if (!the_job.spec.sub_groups.empty()) return RunTwoLevels(job, worksheet, pass);
  if (session_.LimitOf(job).kind == TopologyLimit::Kind::kBounded) {
    return RunOneLevel(job, worksheet, pass);
  }
  return RunFlat(job, worksheet, pass);
}

// ---- one HyperNode
// ------------------------------------------------------------------------------------------------------

PlaceOutcome Search::Place(const PlaceRequest& request) {
  const HyperNodeTree& tree = session_.tree();
  PlaceOutcome outcome;
  if (request.domain == tree.top()) {
    outcome = Trial(session_, request, cluster_index_.shape(), &cluster_index_).Run();
  } else {
    const DomainShape shape(tree, request.domain);
    outcome = Trial(session_, request, shape, nullptr).Run();
  }
  if (!outcome.ok && outcome.placed > 0) TraceDiscard(request.job, request.domain);
  return outcome;
}

Search::Rehearsal Search::Rehearse(PlaceRequest request) {
  const Session::Silence silence(session_);
  const ClusterState::Savepoint begin = session_.state().Mark();
  Rehearsal rehearsal;
  request.obstacles = &rehearsal.obstacles;
  rehearsal.placed = Place(request).placed;
  session_.state().RollbackTo(begin);
  return rehearsal;
}

std::uint64_t Search::SlotsIn(ClassId class_id, HyperNodeId domain, std::uint64_t enough) {
  ClassView& view = session_.View(class_id);
  std::uint64_t slots = 0;
  for (const NodeId node : session_.tree().NodesOf(domain)) {
    slots += view.Slots(node);
    if (slots >= enough) break;
  }
  return slots;
}

// A cheap necessary test: false when the domain has too few free slots for the gang whatever the
// order.
bool Search::MayHold(const PlaceRequest& request) {
  if (request.pass == Pass::kWaiting) return true;
  const ClusterState& state = session_.state();
  const Job& job = state.job(request.job);
  const std::size_t missing =
      MissingForGang(job, job.sub_jobs[request.sub_job], request.tasks.size());
  std::map<ClassId, std::uint64_t> wanted;
  for (const TaskId task : request.tasks) ++wanted[state.task(task).class_id];
  if (wanted.size() == 1) {
    const std::uint64_t want = std::max<std::uint64_t>(missing, 1);
    return SlotsIn(wanted.begin()->first, request.domain, want) >= want;
  }
  if (missing < request.tasks.size()) return true;  // which tasks make up the minimum is not known
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    return SlotsIn(entry.first, request.domain, entry.second) >= entry.second;
  });
}

Search::Outcome Search::RunFlat(JobId job, Worksheet& worksheet, Pass pass) {
  Worksheet::Sheet& sheet = worksheet.sheets().front();
  const PlaceRequest request{.job = job,
                             .sub_job = sheet.sub_job,
                             .tasks = sheet.left(),
                             .ranks = sheet.ranks.get(),
                             .domain = session_.tree().top(),
                             .pass = pass};
  PlaceOutcome placed = Place(request);
  if (placed.ok) sheet.next += placed.taken;
  return {.ok = placed.ok, .quota = std::move(placed.quota)};
}

bool Search::PlaceBestEffort(TaskId task, HyperNodeId domain) {
  if (session_.ForgetSurplusViews()) ForgetViews();
  const Task& the_task = session_.state().task(task);
  const PlaceRequest request{.job = the_task.job,
                             .sub_job = the_task.sub_job,
                             .tasks = std::span(&task, 1),
                             .domain = domain,
                             .pass = Pass::kReady,
                             .ask_quota = false};
  return Place(request).ok;
}

void Search::Widen(TaskId task, HyperNodeId domain) {
  const HyperNodeTree& tree = session_.tree();
  const Task& the_task = session_.state().task(task);
  const bool bounded =
      session_.LimitOf(the_task.job).kind == TopologyLimit::Kind::kBounded ||
      session_.LimitOf(the_task.job, the_task.sub_job).kind == TopologyLimit::Kind::kBounded;
  if (!bounded) return;
  // A node may be in two trees; its leaf alone does not say by which of them it was found.
  const HyperNodeId place =
      domain == tree.top() ? tree.LeafOf(tree.ChainOf(the_task.node)) : domain;
  RememberHyperNode(the_task.job, the_task.sub_job, place);
  RememberHyperNode(the_task.job, place);
}

// ---- tiers and scores
// -----------------------------------------------------------------------------------------------------

Gradient Search::FindGradient(const Level& level) {
  if (level.limit.kind != TopologyLimit::Kind::kBounded) {
    Gradient only;
    only.root = level.within;
    only.tiers.push_back({.tier = session_.tree().at(level.within).tier,
                          .eligible = {level.within},
                          .rejected = {}});
    return only;
  }
  const GradientQuery query{.within = level.within,
                            .allocated = level.allocated,
                            .limit = level.limit.tier,
                            .need = &level.need,
                            .explain = session_.tracing()};
  Gradient gradient = session_.points().gradient->Find(session_.state(), query);
  if (session_.tracing()) TraceGradient(level, gradient);
  return gradient;
}

Search::TierScores Search::ScoreTier(const SubJob& sub_job,
                                     const Worksheet::Sheet& sheet,
                                     const Resources& need,
                                     const std::vector<HyperNodeId>& hypernodes) {
  TierScores scores;
  scores.hypernodes = hypernodes;
  scores.total.assign(hypernodes.size(), 0);
  const Resources pending = SumOf(session_.state(), sheet.left());
  const HyperNodeScoreQuery query{.sub_job = &sub_job, .pending = &pending, .need = &need};
  for (const auto& [plugin, point] : session_.points().hypernodes) {
    std::vector<Score>& row = scores.by_plugin[plugin];
    row.resize(hypernodes.size());
    point->ScoreHyperNodes(session_.state(), query, hypernodes, row);
    for (std::size_t i = 0; i < row.size(); ++i) scores.total[i] += row[i];
  }
  return scores;
}

std::vector<std::size_t> Search::Ranking(const SubJob& sub_job, const TierScores& scores) const {
  std::vector<std::uint32_t> tasks(scores.hypernodes.size(), 0);
  if (!HasNothingPlaced(sub_job)) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i] = TasksIn(session_.state(), sub_job, scores.hypernodes[i]);
    }
  }
  std::vector<std::size_t> ranking(scores.hypernodes.size());
  for (std::size_t i = 0; i < ranking.size(); ++i) ranking[i] = i;
  // HyperNodes come ascending by name, so a stable sort leaves ties to the lower name.
  std::stable_sort(ranking.begin(), ranking.end(), [&](std::size_t a, std::size_t b) {
    if (scores.total[a] != scores.total[b]) return scores.total[a] > scores.total[b];
    return tasks[a] > tasks[b];
  });
  return ranking;
}

// ---- one level
// ------------------------------------------------------------------------------------------------------------

// The place of one sub-job at or below level.within: the lowest tier that has one, and there the
// first in the ranking.
std::optional<Search::Found> Search::FindSubJob(const Level& level,
                                                Worksheet::Sheet& sheet,
                                                Pass pass,
                                                Outcome& outcome) {
  const Gradient gradient = FindGradient(level);
  for (const Gradient::Tier& tier : gradient.tiers) {
    if (tier.eligible.empty()) continue;
    const SubJob& sub_job = session_.state().job(level.job).sub_jobs[sheet.sub_job];
    const TierScores scores = ScoreTier(sub_job, sheet, level.need, tier.eligible);
    std::vector<std::size_t> failed;
    std::optional<Found> found;
    for (const std::size_t i : Ranking(sub_job, scores)) {
      if (TryIn(scores.hypernodes[i], level, sheet, pass, outcome) != Fit::kPlaced) {
        failed.push_back(i);
        continue;
      }
      found = Found{.hypernode = scores.hypernodes[i], .by_plugin = {}, .score = scores.total[i]};
      for (const auto& [plugin, row] : scores.by_plugin) found->by_plugin[plugin] = row[i];
      break;
    }
    if (session_.tracing()) {
      TraceScores(level, scores, failed, found ? found->hypernode : HyperNodeId{});
    }
    if (found) return found;
  }
  return std::nullopt;
}

Search::Fit Search::TryIn(HyperNodeId hypernode,
                          const Level& level,
                          Worksheet::Sheet& sheet,
                          Pass pass,
                          Outcome& outcome) {
  const PlaceRequest request{.job = level.job,
                             .sub_job = sheet.sub_job,
                             .tasks = sheet.left(),
                             .ranks = sheet.ranks.get(),
                             .domain = hypernode,
                             .pass = pass};
  if (!MayHold(request)) return Fit::kNoRoom;
  PlaceOutcome placed = Place(request);
  const bool refused = placed.quota.has_value();
  // The first refusal stands: what comes after it may be left out where HyperNodes are alike.
  if (refused && !outcome.quota) outcome.quota = std::move(placed.quota);
  if (!placed.ok) {
    return refused || AreInterchangeable(request.tasks) ? Fit::kNoRoom : Fit::kBarred;
  }
  sheet.next += placed.taken;
  return Fit::kPlaced;
}

bool Search::AreInterchangeable(std::span<const TaskId> tasks) const {
  const ClusterState& state = session_.state();
  const ClassId first = state.task(tasks.front()).class_id;
  return !state.task_class(first).gpus && std::all_of(tasks.begin(), tasks.end(), [&](TaskId id) {
    return state.task(id).class_id == first;
  });
}

Search::Outcome Search::RunOneLevel(JobId job, Worksheet& worksheet, Pass pass) {
  const HyperNodeTree& tree = session_.tree();
  const Job& the_job = session_.state().job(job);
  Worksheet::Sheet& sheet = worksheet.sheets().front();
  const Level level{.job = job,
                    .sub_job = "",
                    .within = tree.top(),
                    .allocated = tree.Find(the_job.allocated_hypernode).value_or(HyperNodeId{}),
                    .limit = session_.LimitOf(job),
                    .need = NeedOf(session_, job, worksheet)};
  Outcome outcome;
  const auto found = FindSubJob(level, sheet, pass, outcome);
  if (!found) return outcome;
  RememberHyperNode(job, sheet.sub_job, found->hypernode);
  RememberHyperNode(job, found->hypernode);
  outcome.ok = true;
  return outcome;
}

void Search::RememberHyperNode(JobId job, std::size_t sub_job, HyperNodeId hypernode) {
  const HyperNodeTree& tree = session_.tree();
  const auto before = tree.Find(session_.state().job(job).sub_jobs[sub_job].allocated_hypernode);
  session_.state().SetAllocatedHyperNode(
      job, sub_job, tree.at(tree.Lca(before.value_or(HyperNodeId{}), hypernode)).name);
}

void Search::RememberHyperNode(JobId job, HyperNodeId hypernode) {
  const HyperNodeTree& tree = session_.tree();
  const auto before = tree.Find(session_.state().job(job).allocated_hypernode);
  session_.state().SetAllocatedHyperNode(
      job, tree.at(tree.Lca(before.value_or(HyperNodeId{}), hypernode)).name);
}

}  // namespace strata
