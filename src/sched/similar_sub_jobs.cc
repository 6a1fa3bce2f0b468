#include "sched/similar_sub_jobs.h"

#include <algorithm>
#include <utility>

namespace strata {
namespace {

// True when a node that refuses one task may take the next, after other tasks are placed.
bool DependOnPeers(Session& session, std::span<const TaskId> tasks) {
  const ClusterState& state = session.state();
  if (state.classes().with_rules().empty()) return false;
  return std::any_of(tasks.begin(), tasks.end(), [&](TaskId id) {
    return session.views().Of(state.workload().task(id).class_id).Peers() != nullptr;
  });
}

}  // namespace

bool SimilarSubJobs::Serves(const SearchLevel& level,
                            const Worksheet::Sheet& sheet,
                            Pass pass) const {
  if (session_.tracing() || pass != Pass::kReady || level.allocated.valid() ||
      level.limit.kind != TopologyLimit::Kind::kBounded || DependOnPeers(session_, sheet.left())) {
    return false;
  }
  const SubJob& sub_job = session_.state().workload().job(level.job).sub_jobs[sheet.sub_job];
  if (!HasNothingPlaced(sub_job) || sub_job.counts.pending_best_effort > 0 ||
      sheet.left().size() != static_cast<std::size_t>(sub_job.min_available)) {
    return false;
  }
  // Nothing is placed, so what is pending is what is needed.
  const Resources& need = level.need.counted();
  const HyperNodeScoreQuery query{.sub_job = &sub_job, .pending = &need, .need = &need};
  const auto& points = session_.plugins().points().hypernodes;
  return std::all_of(points.begin(), points.end(), [&](const auto& named) {
    return named.point->ScoresAlone(query);
  });
}

SimilarSubJobs::AllKnown::value_type& SimilarSubJobs::KnownFor(const SearchLevel& level,
                                                               const SubJob& sub_job,
                                                               const Worksheet::Sheet& sheet) {
  const ClusterState& state = session_.state();
  Key key{.tier = level.limit.tier,
          .wants_nearness = sub_job.topology.present(),
          .tasks = sub_job.tasks.size(),
          .classes = ClassesOf(state, sheet.left())};
  auto it = known_.find(key);
  if (it == known_.end()) {
    Known fresh{.board = DomainBoard(session_.tree(), search_.FindGradient(level)),
                .seen = state.journal().Mark(),
                .kinds = KindsFor(session_, level.job, key.classes),
                .pattern = std::nullopt};
    it = known_.emplace(std::move(key), std::move(fresh)).first;
  }
  return *it;
}

std::optional<FoundPlace> SimilarSubJobs::Find(const SearchLevel& level,
                                               Worksheet::Sheet& sheet,
                                               SearchOutcome& outcome) {
  const ClusterState& state = session_.state();
  const HyperNodeTree& tree = session_.tree();
  const SubJob& sub_job = state.workload().job(level.job).sub_jobs[sheet.sub_job];
  const auto score = [&](HyperNodeId id) { return ScoreOne(sub_job, level.need.counted(), id); };
  AllKnown::value_type& known = KnownFor(level, sub_job, sheet);
  const GradientPoint& gradient = *session_.plugins().points().gradient;
  DomainBoard& board = known.second.board;
  Journal::Savepoint& seen = known.second.seen;
  board.Resume();
  ChainId last;
  for (const TaskId task : state.journal().PlacedSince(seen)) {
    const ChainId chain = tree.ChainOf(state.workload().task(task).node);
    if (chain == last) continue;
    last = chain;
    for (const HyperNodeId above : tree.HyperNodesOf(chain)) board.Refresh(above, score);
  }
  seen = state.journal().Mark();
  while (const auto best = board.Best(score)) {
    session_.Look(1);
    const bool eligible = gradient.IsEligible(state, level.need.room, *best);
    switch (eligible ? TryIn(*best, level, sheet, known, outcome) : Fit::kNoRoom) {
      case Fit::kPlaced:
        return FoundPlace{.hypernode = *best, .by_plugin = {}, .score = board.ScoreOf(*best)};
      case Fit::kBlockedBySibling:
        board.PassOver(*best);
        break;
      case Fit::kNoRoom:
        board.Drop(*best);
        break;
    }
  }
  return std::nullopt;
}

Fit SimilarSubJobs::TryIn(HyperNodeId hypernode,
                          const SearchLevel& level,
                          Worksheet::Sheet& sheet,
                          AllKnown::value_type& known,
                          SearchOutcome& outcome) {
  const ClusterState& state = session_.state();
  const HyperNodeTree& tree = session_.tree();
  auto& [key, similar] = known;
  if (similar.kinds == nullptr || !DomainKinds::IsLeaf(tree, hypernode) ||
      !IsKindWorthItsCost(tree, hypernode, key.classes.size())) {
    return search_.TryIn(hypernode, level, sheet, Pass::kReady, outcome);
  }
  const std::span<const NodeId> nodes = tree.NodesOf(hypernode);
  const std::size_t kind = similar.kinds->KindOf(hypernode);
  if (similar.pattern && similar.pattern->kind == kind &&
      Repeat(*similar.pattern, hypernode, level.job, sheet)) {
    return Fit::kPlaced;
  }
  const Journal::Savepoint begin = state.journal().Mark();
  const std::size_t taken = sheet.next;
  const Fit fit = search_.TryIn(hypernode, level, sheet, Pass::kReady, outcome);
  if (fit != Fit::kPlaced) return fit;
  const std::vector<TaskId> placed = state.journal().PlacedSince(begin);
  similar.pattern.reset();
  if (placed.size() != sheet.next - taken) return fit;  // the quota refused some
  Pattern pattern;
  pattern.kind = kind;
  for (const TaskId id : placed) {
    const auto node = std::find(nodes.begin(), nodes.end(), state.workload().task(id).node);
    pattern.positions.push_back(static_cast<std::size_t>(node - nodes.begin()));
  }
  similar.pattern = std::move(pattern);
  return fit;
}

bool SimilarSubJobs::Repeat(const Pattern& pattern,
                            HyperNodeId hypernode,
                            JobId job,
                            Worksheet::Sheet& sheet) {
  ClusterState& state = session_.state();
  const Job& the_job = state.workload().job(job);
  const std::span<const NodeId> nodes = session_.tree().NodesOf(hypernode);
  const std::span<const TaskId> tasks = sheet.left();
  const Journal::Savepoint begin = state.journal().Mark();
  for (std::size_t i = 0; i < pattern.positions.size(); ++i) {
    if (session_.plugins().Exhausted(tasks[i])) break;
    session_.Place(tasks[i], nodes[pattern.positions[i]], DevicePoint::When::kNow, hypernode);
    if (!session_.plugins().SubJobReady(the_job, the_job.sub_jobs[sheet.sub_job])) continue;
    sheet.next += i + 1;
    return true;
  }
  state.journal().RollbackTo(begin);
  return false;
}

Score SimilarSubJobs::ScoreOne(const SubJob& sub_job, const Resources& need, HyperNodeId id) const {
  const HyperNodeScoreQuery query{.sub_job = &sub_job, .pending = &need, .need = &need};
  Score total = 0;
  for (const auto& [plugin, point] : session_.plugins().points().hypernodes) {
    Score score = 0;
    point->ScoreHyperNodes(session_.state(), query, std::span(&id, 1), std::span(&score, 1));
    total += score;
  }
  return total;
}

std::vector<ClassId> ClassesOf(const ClusterState& state, std::span<const TaskId> tasks) {
  std::vector<ClassId> classes;
  classes.reserve(tasks.size());
  for (const TaskId id : tasks) classes.push_back(state.workload().task(id).class_id);
  return classes;
}

std::vector<ClassId> WithoutDuplicates(std::vector<ClassId> classes) {
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

DomainKinds* KindsFor(Session& session, JobId job, std::vector<ClassId> classes) {
  classes = WithoutDuplicates(std::move(classes));
  if (session.plugins().ScoresTasksOf(job) ||
      !DomainKinds::Suffice(session.state(), session.views(), classes)) {
    return nullptr;
  }
  return &session.caches().KindsFor(classes);
}

bool IsKindWorthItsCost(const HyperNodeTree& tree, HyperNodeId hypernode, std::size_t pods) {
  constexpr std::size_t kNodesPerPod = 4;
  return tree.NodesOf(hypernode).size() <= kNodesPerPod * pods;
}

}  // namespace strata
