#include "sched/trial.h"

#include <algorithm>
#include <string>
#include <tuple>
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
      kept_(kept),
      job_(session.state().job(request.job)),
      sub_job_(job_.sub_jobs[request.sub_job]) {
  CHECK(request.ranks != nullptr || request.tasks.size() <= 1);
  if (!sub_job_.topology.present()) return;
  if (const auto known = session_.tree().Find(sub_job_.allocated_hypernode)) Widen(*known);
  CountTasksOnLeaves();
}

std::vector<ChainGroup>& Trial::Groups() {
  if (groups_.size() == shape_.groups.size()) return groups_;
  groups_.reserve(shape_.groups.size());
  for (const DomainShape::Group& group : shape_.groups) {
    ChainGroup chain;
    chain.chain = group.chain;
    chain.leaf = group.leaf;
    groups_.push_back(chain);
  }
  return groups_;
}

PlaceOutcome Trial::Run() {
  PlaceOutcome outcome;
  ClusterState& state = session_.state();
  const ClusterState::Savepoint begin = state.Mark();
  bool stop = shape_.nodes.empty();
  while (!stop && outcome.taken < request_.tasks.size()) {
    const TaskId task = request_.tasks[outcome.taken];
    ++outcome.taken;
    switch (Try(task, outcome)) {
      case Attempt::kPlaced:
        stop = session_.SubJobReady(job_, sub_job_);
        break;
      case Attempt::kNoNode:
        stop = !KeepsGoing();
        break;
      case Attempt::kNoQuota:
      case Attempt::kPostponed:
        break;
    }
  }
  RetryPostponed(outcome);
  outcome.ok = outcome.placed > 0 && Succeeded();
  if (!outcome.ok) state.RollbackTo(begin);
  if (outcome.ok && sub_job_.key && !session_.SubJobReady(job_, sub_job_)) WaitAsOne(begin);
  return outcome;
}

// A sub-group that waits for one of its pods starts none of them: all of them wait, also those
// whose node is idle, and do not count for the job.
void Trial::WaitAsOne(ClusterState::Savepoint begin) {
  ClusterState& state = session_.state();
  const std::vector<TaskId> tasks = state.ChangedSince(begin);
  std::vector<std::pair<NodeId, GpuClaim>> places;
  places.reserve(tasks.size());
  for (const TaskId id : tasks) places.emplace_back(state.task(id).node, state.GpusOf(id));
  state.RollbackTo(begin);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    state.Pipeline(tasks[i], places[i].first, std::move(places[i].second));
  }
}

Trial::Attempt Trial::Try(TaskId task, PlaceOutcome& outcome) {
  const ClusterState& state = session_.state();
  const ClassId class_id = state.task(task).class_id;
  if (request_.ask_quota) {
    auto refusal = session_.Exhausted(job_.queue, state.task_class(class_id).request);
    if (refusal) {
      outcome.quota = std::move(refusal);
      return Attempt::kNoQuota;
    }
  }
  // Tasks of one class fit everywhere or nowhere; a placement since may have changed that only
  // where rules look at other pods.
  const auto failed = failed_.find(class_id);
  const bool hopeless = failed != failed_.end() && (failed->second == outcome.placed ||
                                                    session_.View(class_id).Peers() == nullptr);
  if (const auto choice = hopeless ? std::nullopt : Choose(task)) {
    Take(task, *choice);
    ++outcome.placed;
    return Attempt::kPlaced;
  }
  if (!hopeless && request_.obstacles != nullptr) {
    *request_.obstacles = FindObstacles(session_, class_id, shape_.nodes);
  }
  failed_[class_id] = outcome.placed;
  if (session_.View(class_id).Peers() == nullptr) return Attempt::kNoNode;
  postponed_.push_back(task);
  return Attempt::kPostponed;
}

void Trial::RetryPostponed(PlaceOutcome& outcome) {
  std::size_t placed_before = 0;
  while (!postponed_.empty() && placed_before < outcome.placed) {
    placed_before = outcome.placed;
    for (const TaskId task : std::exchange(postponed_, {})) {
      if (session_.SubJobReady(job_, sub_job_)) return;
      static_cast<void>(Try(task, outcome));
    }
  }
}

bool Trial::Succeeded() const {
  if (session_.SubJobReady(job_, sub_job_)) return true;
  return request_.pass == Pass::kWaiting && session_.SubJobPipelined(job_, sub_job_);
}

// After a task that fits nowhere: can other tasks still make up the minimum?
bool Trial::KeepsGoing() const {
  if (job_.spec.min_available == job_.counts.Total()) return false;
  return job_.spec.sub_groups.empty() || sub_job_.min_available < sub_job_.counts.Total();
}

void Trial::CountTasksOnLeaves() {
  const HyperNodeTree& tree = session_.tree();
  std::map<HyperNodeId, std::uint32_t> counts;
  for (const TaskId id : sub_job_.tasks) {
    const NodeId node = session_.state().task(id).node;
    if (node.valid()) ++counts[tree.LeafOf(tree.ChainOf(node))];
  }
  if (counts.empty()) return;
  for (ChainGroup& group : Groups()) {
    const auto it = counts.find(group.leaf);
    group.tasks_on_leaf = it == counts.end() ? 0 : it->second;
  }
}

void Trial::Widen(HyperNodeId leaf) {
  const HyperNodeTree& tree = session_.tree();
  const HyperNodeId wider = tree.Lca(allocated_, leaf);
  if (wider == allocated_) return;
  allocated_ = wider;
  for (ChainGroup& group : Groups()) {
    group.lca_tier = tree.at(tree.Lca(group.leaf, allocated_)).tier;
    group.same_as_allocated = group.leaf == allocated_;
  }
}

void Trial::Take(TaskId task, const Choice& choice) {
  const NodeId node = shape_.nodes[choice.position];
  session_.Place(task,
                 node,
                 choice.idle ? DevicePoint::When::kNow : DevicePoint::When::kFuture,
                 request_.domain);
  changed_.push_back(choice.position);
  const HyperNodeId leaf = LeafOf(node);
  if (sub_job_.topology.present()) {
    Widen(leaf);
    for (const auto& [of_leaf, g] : GroupsOf(leaf)) ++Groups()[g].tasks_on_leaf;
  }
}

TaskId Trial::RankBefore(TaskId task) const {
  if (request_.ranks != nullptr) return request_.ranks->PlacedBefore(session_.state(), task);
  return RankOrder::PlacedBefore(session_, job_, task);
}

std::optional<Trial::Choice> Trial::Choose(TaskId task) {
  const TaskId rank_before = RankBefore(task);
  previous_leaf_ =
      rank_before.valid() ? LeafOf(session_.state().task(rank_before).node) : HyperNodeId{};
  ClassView& view = session_.View(session_.state().task(task).class_id);
  if (session_.tracing_nodes() || !view.IsUniform() || IsScoredByTask()) {
    return ChooseBySweep(task);
  }
  if (auto choice = ChooseByIndex(task)) return choice;
  return request_.pass == Pass::kWaiting ? ChooseBySweep(task) : std::nullopt;
}

bool Trial::IsScoredByTask() const {
  const auto& points = session_.points().tasks;
  return std::any_of(points.begin(), points.end(), [&](const auto& score) {
    return score.point->ScoresTasksOf(request_.job);
  });
}

bool Trial::Better(Score score,
                   std::size_t position,
                   Score best_score,
                   std::size_t best_position) const {
  if (score != best_score) return score > best_score;
  const HyperNodeTree& tree = session_.tree();
  const NodeId node = shape_.nodes[position];
  const NodeId best = shape_.nodes[best_position];
  const bool near = previous_leaf_.valid() && LeafOf(node) == previous_leaf_;
  const bool best_near = previous_leaf_.valid() && LeafOf(best) == previous_leaf_;
  if (near != best_near) return near;
  return tree.NameRank(node) < tree.NameRank(best);
}

Placement Trial::PlacementOf(TaskId task) const {
  const ClusterState& state = session_.state();
  return {.job = &job_,
          .sub_job = &sub_job_,
          .spec = &state.task_class(state.task(task).class_id),
          .allocated = allocated_};
}

void Trial::ScoreChains(TaskId task, std::span<const ChainGroup> groups) {
  const Placement placement = PlacementOf(task);
  chain_scores_.assign(groups.size(), 0);
  scratch_.resize(groups.size());
  for (const auto& chains : session_.points().chains) {
    chains.point->ScoreChains(session_.state(), placement, groups, scratch_);
    for (std::size_t g = 0; g < groups.size(); ++g) chain_scores_[g] += scratch_[g];
  }
}

DomainIndex& Trial::IndexOf(ClassId class_id) {
  if (kept_ != nullptr) return kept_->For(class_id);
  Indexed& entry = indexes_[class_id];
  if (!entry.index) {
    entry.index = std::make_unique<DomainIndex>(shape_, session_.View(class_id));
  } else {
    for (; entry.seen < changed_.size(); ++entry.seen) {
      entry.index->Refresh(shape_, changed_[entry.seen]);
    }
  }
  entry.seen = changed_.size();
  return *entry.index;
}

std::span<const std::pair<HyperNodeId, std::size_t>> Trial::GroupsOf(HyperNodeId leaf) {
  if (kept_ != nullptr) return kept_->GroupsOf(leaf);
  if (leaf == asked_leaf_) return asked_groups_;
  if (groups_of_leaf_.size() != shape_.groups.size()) {
    groups_of_leaf_.reserve(shape_.groups.size());
    for (std::size_t g = 0; g < shape_.groups.size(); ++g) {
      groups_of_leaf_.emplace_back(shape_.groups[g].leaf, g);
    }
    std::sort(groups_of_leaf_.begin(), groups_of_leaf_.end());
  }
  const auto first = std::lower_bound(
      groups_of_leaf_.begin(), groups_of_leaf_.end(), std::pair<HyperNodeId, std::size_t>{leaf, 0});
  auto last = first;
  while (last != groups_of_leaf_.end() && last->first == leaf) ++last;
  asked_leaf_ = leaf;
  asked_groups_ = {first, last};
  return asked_groups_;
}

ChainBoard& Trial::BoardOf(ClassId class_id, const DomainIndex& index) {
  auto& entry = boards_[class_id];
  if (!entry.board) entry.board = std::make_unique<ChainBoard>(session_.tree(), shape_);
  ChainBoard& board = *entry.board;
  std::size_t& seen = entry.seen;
  if (!entry.set || entry.allocated != allocated_) {
    board.Reset(index, Groups());
    entry.allocated = allocated_;
    entry.set = true;
    seen = changed_.size();
  }
  for (; seen < changed_.size(); ++seen) {
    for (const auto& [leaf, g] : GroupsOf(LeafOf(shape_.nodes[changed_[seen]]))) {
      board.Refresh(index, Groups()[g], g);
    }
  }
  return board;
}

void Trial::Offer(Best& best, std::size_t position, Score score) const {
  if (!best.position || Better(score, position, best.score, *best.position)) {
    best = {.position = position, .score = score};
  }
}

Trial::Best Trial::BestByChain(TaskId task, const DomainIndex& index) {
  bool any = false;
  for (std::size_t g = 0; g < Groups().size(); ++g) {
    groups_[g].feasible = index.Feasible(g);
    any = any || groups_[g].feasible > 0;
  }
  Best best;
  if (!any) return best;
  ScoreChains(task, groups_);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].feasible == 0) continue;
    const std::size_t position = index.BestOf(g);
    Offer(best, position, index.ScoreAt(position) + chain_scores_[g]);
  }
  return best;
}

Trial::Best Trial::BestByKind(TaskId task, const DomainIndex& index, ChainBoard& board) {
  const std::span<const ChainGroup> kinds = board.kinds();
  ScoreChains(task, kinds);
  Best best;
  const auto offer = [&](std::size_t g) {
    const std::size_t position = index.BestOf(g);
    Offer(best, position, index.ScoreAt(position) + chain_scores_[board.KindOf(g)]);
  };
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (kinds[kind].feasible > 0) offer(board.BestOf(kind));
  }
  if (!previous_leaf_.valid()) return best;
  // Of equal scores the leaf of the rank before comes first, whatever the names.
  for (const auto& [leaf, g] : GroupsOf(previous_leaf_)) {
    if (index.Feasible(g) > 0) offer(g);
  }
  return best;
}

std::optional<Trial::Choice> Trial::ChooseByIndex(TaskId task) {
  const ClassId class_id = session_.state().task(task).class_id;
  const DomainIndex& index = IndexOf(class_id);
  const auto& points = session_.points().chains;
  const Placement placement = PlacementOf(task);
  const bool by_base =
      kept_ != nullptr && points.size() == 1 && points.front().point->SumsTiers(placement);
  const bool by_kind = request_.tasks.size() > 1 &&  // one alone is not worth the sorting
                       std::all_of(points.begin(), points.end(), [&](const auto& c) {
                         return c.point->ScoresByKind(placement);
                       });
  Best best;
  if (by_base) {
    ChainBoard& board = kept_->BoardFor(class_id, *points.front().point, placement);
    best = BestByKind(task, index, board);
  } else if (by_kind) {
    best = BestByKind(task, index, BoardOf(class_id, index));
  } else {
    best = BestByChain(task, index);
  }
  if (!best.position) return std::nullopt;
  return Choice{.position = *best.position, .idle = true};
}

}  // namespace strata
