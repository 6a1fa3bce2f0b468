#include "sched/node_chooser.h"

#include <algorithm>
#include <utility>

namespace strata {

NodeChooser::NodeChooser(Session& session,
                         const PlaceRequest& request,
                         const DomainShape& shape,
                         ClusterIndex* kept)
    : session_(session),
      request_(request),
      shape_(shape),
      kept_(kept),
      job_(session.state().workload().job(request.job)),
      sub_job_(job_.sub_jobs[request.sub_job]) {
  if (!sub_job_.topology.present()) return;
  if (const auto known = session_.tree().Find(sub_job_.allocated_hypernode)) {
    RaiseAllocated(*known);
  }
  CountTasksOnLeaves();
}

std::vector<ChainGroup>& NodeChooser::Groups() {
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

void NodeChooser::CountTasksOnLeaves() {
  const HyperNodeTree& tree = session_.tree();
  std::map<HyperNodeId, std::uint32_t> counts;
  for (const TaskId id : sub_job_.tasks) {
    const NodeId node = session_.state().workload().task(id).node;
    if (node.valid()) ++counts[tree.LeafOf(tree.ChainOf(node))];
  }
  if (counts.empty()) return;
  for (ChainGroup& group : Groups()) {
    const auto it = counts.find(group.leaf);
    group.tasks_on_leaf = it == counts.end() ? 0 : it->second;
  }
}

void NodeChooser::RaiseAllocated(HyperNodeId leaf) {
  const HyperNodeTree& tree = session_.tree();
  const HyperNodeId wider = tree.Lca(allocated_, leaf);
  if (wider == allocated_) return;
  allocated_ = wider;
  for (ChainGroup& group : Groups()) {
    group.lca_tier = tree.at(tree.Lca(group.leaf, allocated_)).tier;
    group.same_as_allocated = group.leaf == allocated_;
  }
}

void NodeChooser::OnPlaced(const Choice& choice) {
  changed_.push_back(choice.position);
  if (!sub_job_.topology.present()) return;
  const HyperNodeId leaf = LeafOf(shape_.nodes[choice.position]);
  RaiseAllocated(leaf);
  const auto groups = GroupsOf(leaf);
  if (leaf != last_leaf_) {
    if (Groups()[groups.front().second].tasks_on_leaf == 0) ++leaves_;
    if (entries_ == 0) first_leaf_ = leaf;
    last_leaf_ = leaf;
    ++entries_;
  }
  for (const auto& [of_leaf, g] : groups) ++Groups()[g].tasks_on_leaf;
}

TaskId NodeChooser::RankBefore(TaskId task) const {
  if (request_.ranks != nullptr) return request_.ranks->PlacedBefore(session_.state(), task);
  return RankOrder::PlacedBefore(session_, job_, task);
}

std::optional<NodeChooser::Choice> NodeChooser::Choose(TaskId task) {
  const TaskId rank_before = RankBefore(task);
  previous_leaf_ = rank_before.valid() ? LeafOf(session_.state().workload().task(rank_before).node)
                                       : HyperNodeId{};
  ClassView& view = session_.views().Of(session_.state().workload().task(task).class_id);
  if (session_.tracing_nodes() || !view.IsUniform() ||
      session_.plugins().ScoresTasksOf(request_.job)) {
    return ChooseBySweep(task);
  }
  if (auto choice = ChooseByIndex(task, DomainIndex::Start::kNow)) return choice;
  if (request_.pass != Pass::kWaiting) return std::nullopt;
  return ChooseByIndex(task, DomainIndex::Start::kLater);
}

bool NodeChooser::Better(Score score,
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

Placement NodeChooser::PlacementOf(TaskId task) const {
  const ClusterState& state = session_.state();
  return {.job = &job_,
          .sub_job = &sub_job_,
          .spec = &state.classes().spec(state.workload().task(task).class_id),
          .allocated = allocated_};
}

void NodeChooser::ScoreChains(TaskId task, std::span<const ChainGroup> groups) {
  const Placement placement = PlacementOf(task);
  chain_scores_.assign(groups.size(), 0);
  scratch_.resize(groups.size());
  for (const auto& chains : session_.plugins().points().chains) {
    chains.point->ScoreChains(session_.state(), placement, groups, scratch_);
    for (std::size_t g = 0; g < groups.size(); ++g) chain_scores_[g] += scratch_[g];
  }
}

DomainIndex& NodeChooser::IndexOf(const ClassStart& key) {
  const auto [class_id, start] = key;
  if (kept_ != nullptr) {
    DomainIndex& index = kept_->For(class_id, start);
    session_.Look(kept_->TakeLooked());
    return index;
  }
  Indexed& entry = indexes_[key];
  if (!entry.index) {
    entry.index = std::make_unique<DomainIndex>(shape_, session_.views().Of(class_id), start);
    if (start == DomainIndex::Start::kLater) session_.Look(shape_.nodes.size());
  } else {
    for (; entry.seen < changed_.size(); ++entry.seen) {
      entry.index->Refresh(shape_, changed_[entry.seen]);
    }
  }
  entry.seen = changed_.size();
  return *entry.index;
}

std::span<const std::pair<HyperNodeId, std::size_t>> NodeChooser::GroupsOf(HyperNodeId leaf) {
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

ChainBoard& NodeChooser::BoardOf(const ClassStart& key, const DomainIndex& index) {
  auto& entry = boards_[key];
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

void NodeChooser::Offer(Best& best, std::size_t position, Score score) const {
  if (!best.position || Better(score, position, best.score, *best.position)) {
    best = {.position = position, .score = score};
  }
}

NodeChooser::Best NodeChooser::BestByChain(TaskId task, const DomainIndex& index) {
  bool any = false;
  for (std::size_t g = 0; g < Groups().size(); ++g) {
    groups_[g].feasible = index.Feasible(g);
    any = any || groups_[g].feasible > 0;
  }
  Best best;
  session_.Look(groups_.size());
  if (!any) return best;
  ScoreChains(task, groups_);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].feasible == 0) continue;
    const std::size_t position = index.BestOf(g);
    Offer(best, position, index.ScoreAt(position) + chain_scores_[g]);
  }
  return best;
}

NodeChooser::Best NodeChooser::BestByKind(TaskId task,
                                          const DomainIndex& index,
                                          ChainBoard& board) {
  const std::span<const ChainGroup> kinds = board.kinds();
  session_.Look(kinds.size());
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
  // Among equal scores the leaf of the previous rank comes before the lower name.
  for (const auto& [leaf, g] : GroupsOf(previous_leaf_)) {
    if (index.Feasible(g) > 0) offer(g);
  }
  return best;
}

std::optional<NodeChooser::Choice> NodeChooser::ChooseByIndex(TaskId task,
                                                              DomainIndex::Start start) {
  const ClassId class_id = session_.state().workload().task(task).class_id;
  const DomainIndex& index = IndexOf({class_id, start});
  const auto& points = session_.plugins().points().chains;
  const Placement placement = PlacementOf(task);
  const bool by_base =
      kept_ != nullptr && points.size() == 1 && points.front().point->SumsTiers(placement);
  const bool by_kind = request_.tasks.size() > 1 &&  // one alone is not worth the sorting
                       std::all_of(points.begin(), points.end(), [&](const auto& c) {
                         return c.point->ScoresByKind(placement);
                       });
  Best best;
  if (by_base) {
    ChainBoard& board = kept_->BoardFor(class_id, start, *points.front().point, placement);
    best = BestByKind(task, index, board);
  } else if (by_kind) {
    best = BestByKind(task, index, BoardOf({class_id, start}, index));
  } else {
    best = BestByChain(task, index);
  }
  if (!best.position) return std::nullopt;
  return Choice{.position = *best.position, .idle = start == DomainIndex::Start::kNow};
}

}  // namespace strata
