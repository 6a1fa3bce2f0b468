#include "sched/level_search.h"

#include <algorithm>
#include <utility>

#include "sched/fewest_leaves.h"
#include "sched/second_search.h"
#include "sched/trial.h"

namespace strata {

std::optional<FoundPlace> LevelSearch::Find(const SearchLevel& level,
                                            Worksheet::Sheet& sheet,
                                            Pass pass,
                                            SearchOutcome& outcome) {
  const Gradient gradient = FindGradient(level);
  for (const Gradient::Tier& tier : gradient.tiers) {
    if (tier.eligible.empty()) continue;
    session_.Look(tier.eligible.size());
    const SubJob& sub_job = session_.state().workload().job(level.job).sub_jobs[sheet.sub_job];
    const TierScores scores = ScoreTier(sub_job, sheet, level.need.counted(), tier.eligible);
    Tried tried;
    std::optional<std::size_t> chosen;
    for (const std::size_t i : Ranking(sub_job, scores)) {
      const Fit fit = TryIn(scores.hypernodes[i], level, sheet, pass, outcome);
      if (fit == Fit::kPlaced) {
        chosen = i;
        break;
      }
      if (fit == Fit::kBlockedBySibling) tried.blocked.push_back(tried.failed.size());
      tried.failed.push_back(i);
    }
    if (!chosen && level.second != nullptr && !outcome.quota) {
      chosen = FindAgain(level, scores, tried, sheet, outcome);
    }
    if (session_.tracing()) {
      const HyperNodeId at = chosen ? scores.hypernodes[*chosen] : HyperNodeId{};
      TraceScores(session_, level, scores, tried.failed, at);
    }
    if (chosen) return PlaceAt(scores, *chosen);
  }
  return std::nullopt;
}

FoundPlace LevelSearch::PlaceAt(const TierScores& scores, std::size_t chosen) {
  FoundPlace found{
      .hypernode = scores.hypernodes[chosen], .by_plugin = {}, .score = scores.total[chosen]};
  for (const auto& [plugin, row] : scores.by_plugin) found.by_plugin[plugin] = row[chosen];
  return found;
}

std::optional<std::size_t> LevelSearch::FindAgain(const SearchLevel& level,
                                                  const TierScores& scores,
                                                  Tried& tried,
                                                  Worksheet::Sheet& sheet,
                                                  SearchOutcome& outcome) {
  if (!level.second->MayHelp(sheet)) return std::nullopt;
  for (const std::size_t position : tried.blocked) {
    const std::size_t found = tried.failed[position];
    if (!level.second->PlaceFlat(level.job, scores.hypernodes[found], sheet)) continue;
    tried.failed.resize(position);  // the second search did not come to the others
    outcome.follows_ranks = false;
    return found;
  }
  return std::nullopt;
}

Fit LevelSearch::TryIn(HyperNodeId hypernode,
                       const SearchLevel& level,
                       Worksheet::Sheet& sheet,
                       Pass pass,
                       SearchOutcome& outcome) {
  const PlaceRequest request{.job = level.job,
                             .sub_job = sheet.sub_job,
                             .tasks = sheet.left(),
                             .ranks = sheet.ranks.get(),
                             .domain = hypernode,
                             .pass = pass};
  if (!MayHold(request)) return Fit::kNoRoom;
  const bool fewest = settings_.fewest_leaves && pass == Pass::kReady &&
                      level.limit.kind == TopologyLimit::Kind::kBounded;
  PlaceOutcome placed = Place(request, fewest ? Leaves::kFewest : Leaves::kAny);
  const bool refused = placed.quota.has_value();
  // The first refusal is kept: later ones may be missing where HyperNodes of one kind are skipped.
  if (refused && !outcome.quota) outcome.quota = std::move(placed.quota);
  if (!placed.ok) {
    return refused || AreInterchangeable(request.tasks) ? Fit::kNoRoom : Fit::kBlockedBySibling;
  }
  sheet.next += placed.taken;
  outcome.follows_ranks = placed.follows_ranks;
  return Fit::kPlaced;
}

bool LevelSearch::AreInterchangeable(std::span<const TaskId> tasks) const {
  const ClusterState& state = session_.state();
  const ClassId first = state.workload().task(tasks.front()).class_id;
  return !state.classes().spec(first).gpus &&
         std::all_of(tasks.begin(), tasks.end(), [&](TaskId id) {
           return state.workload().task(id).class_id == first;
         });
}

PlaceOutcome LevelSearch::Place(const PlaceRequest& request, Leaves leaves) {
  const HyperNodeTree& tree = session_.tree();
  const bool anywhere = request.domain == tree.top();
  ClusterIndex* const kept = anywhere ? &session_.caches().cluster_index() : nullptr;
  std::optional<DomainShape> own;
  if (!anywhere) session_.Look(own.emplace(tree, request.domain).nodes.size());
  const DomainShape& shape = anywhere ? kept->shape() : *own;
  const Journal::Savepoint begin = session_.state().journal().Mark();
  PlaceOutcome outcome = Trial(session_, request, shape, kept).Run();
  if (!outcome.ok && outcome.placed > 0) TraceDiscard(session_, request.job, request.domain);
  if (leaves == Leaves::kAny || !outcome.ok || outcome.leaves < 2) return outcome;
  if (auto fewer = PlaceInFewerLeaves(request, shape, begin, outcome)) return *std::move(fewer);
  return outcome;
}

std::optional<PlaceOutcome> LevelSearch::PlaceInFewerLeaves(const PlaceRequest& request,
                                                            const DomainShape& shape,
                                                            Journal::Savepoint begin,
                                                            const PlaceOutcome& placed) {
  ClusterState& state = session_.state();
  const SubJob& sub_job = state.workload().job(request.job).sub_jobs[request.sub_job];
  const ClassId class_id = state.workload().task(request.tasks.front()).class_id;
  if (placed.quota || !sub_job.allocated_hypernode.empty() ||
      !MayNeedFewer(session_, shape, class_id, placed) || !AreInterchangeable(request.tasks)) {
    return std::nullopt;
  }
  const auto choice = FewerLeaves(session_, shape, state.journal().PlacedSince(begin));
  if (!choice) return std::nullopt;
  state.journal().RollbackTo(begin);
  TraceDiscard(session_, request.job, request.domain);
  DomainShape few;
  few.nodes = choice->nodes;
  few.groups = choice->groups;
  PlaceOutcome fewer = Trial(session_, request, few, nullptr).Run();
  return fewer.ok ? std::move(fewer) : Place(request);
}

bool LevelSearch::MayHold(const PlaceRequest& request) {
  if (request.pass == Pass::kWaiting) return true;
  const ClusterState& state = session_.state();
  const Job& job = state.workload().job(request.job);
  const std::size_t missing =
      MissingForGang(job, job.sub_jobs[request.sub_job], request.tasks.size());
  std::map<ClassId, std::uint64_t> wanted;
  for (const TaskId task : request.tasks) ++wanted[state.workload().task(task).class_id];
  if (wanted.size() == 1) {
    const std::uint64_t want = std::max<std::uint64_t>(missing, 1);
    return SlotsIn(wanted.begin()->first, request.domain, want) >= want;
  }
  if (missing < request.tasks.size()) return true;  // which tasks make up the minimum is not known
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    return SlotsIn(entry.first, request.domain, entry.second) >= entry.second;
  });
}

std::uint64_t LevelSearch::SlotsIn(ClassId class_id, HyperNodeId domain, std::uint64_t enough) {
  ClassView& view = session_.views().Of(class_id);
  std::uint64_t slots = 0;
  std::size_t looked = 0;
  for (const NodeId node : session_.tree().NodesOf(domain)) {
    ++looked;
    slots += view.Slots(node);
    if (slots >= enough) break;
  }
  session_.Look(looked);
  return slots;
}

Gradient LevelSearch::FindGradient(const SearchLevel& level) {
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
                            .need = &level.need.room,
                            .explain = session_.tracing()};
  Gradient gradient = session_.plugins().points().gradient->Find(session_.state(), query);
  if (level.within == session_.tree().top()) session_.Look(session_.tree().hypernodes().size());
  if (session_.tracing()) TraceGradient(session_, level, gradient);
  return gradient;
}

TierScores LevelSearch::ScoreTier(const SubJob& sub_job,
                                  const Worksheet::Sheet& sheet,
                                  const Resources& need,
                                  const std::vector<HyperNodeId>& hypernodes) {
  TierScores scores;
  scores.hypernodes = hypernodes;
  scores.total.assign(hypernodes.size(), 0);
  const Need pending = SumOf(session_.state(), sheet.left());
  const HyperNodeScoreQuery query{
      .sub_job = &sub_job, .pending = &pending.counted(), .need = &need};
  for (const auto& [plugin, point] : session_.plugins().points().hypernodes) {
    std::vector<Score>& row = scores.by_plugin[plugin];
    row.resize(hypernodes.size());
    point->ScoreHyperNodes(session_.state(), query, hypernodes, row);
    for (std::size_t i = 0; i < row.size(); ++i) scores.total[i] += row[i];
  }
  return scores;
}

std::vector<std::size_t> LevelSearch::Ranking(const SubJob& sub_job,
                                              const TierScores& scores) const {
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

void LevelSearch::ExtendAllocated(JobId job, std::size_t sub_job, HyperNodeId hypernode) {
  const HyperNodeTree& tree = session_.tree();
  const auto before =
      tree.Find(session_.state().workload().job(job).sub_jobs[sub_job].allocated_hypernode);
  session_.state().journal().SetDomain(
      job, sub_job, tree.at(tree.Lca(before.value_or(HyperNodeId{}), hypernode)).name);
}

void LevelSearch::ExtendAllocated(JobId job, HyperNodeId hypernode) {
  const HyperNodeTree& tree = session_.tree();
  const auto before = tree.Find(session_.state().workload().job(job).allocated_hypernode);
  session_.state().journal().SetDomain(
      job, tree.at(tree.Lca(before.value_or(HyperNodeId{}), hypernode)).name);
}

}  // namespace strata
