// The part of NodeChooser that scores every node.
#include <algorithm>
#include <string>

#include "sched/node_chooser.h"

namespace strata {

void ScoreSheet::Add(const std::string& plugin, std::span<const Score> scores) {
  std::vector<Score>& row = by_plugin[plugin];
  row.resize(total.size(), 0);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    row[i] += scores[i];
    total[i] += scores[i];
  }
}

std::vector<std::size_t> NodeChooser::Collect(const std::function<bool(NodeId)>& takes) {
  std::vector<std::size_t> positions;
  session_.Look(shape_.nodes.size());
  for (std::size_t g = 0; g < Groups().size(); ++g) {
    groups_[g].feasible = 0;
    for (std::size_t i = shape_.groups[g].begin; i < shape_.groups[g].end; ++i) {
      if (!takes(shape_.nodes[i])) continue;
      positions.push_back(i);
      ++groups_[g].feasible;
    }
  }
  return positions;
}

ScoreSheet NodeChooser::ScoreAll(TaskId task, std::span<const NodeId> nodes, bool idle) {
  const ClusterState& state = session_.state();
  ClassView& view = session_.views().Of(state.workload().task(task).class_id);
  ScoreSheet sheet(nodes.size());
  std::vector<Score> row(nodes.size());
  if (!session_.tracing() && idle) {
    view.Scores(nodes, row);  // cached; without a listener the sum over all plugins is enough
    sheet.Add("", row);
  } else {
    for (const auto& score : view.points().scores) {
      score.point->ScoreNodes(state, view.spec(), nodes, row);
      sheet.Add(score.plugin, row);
    }
  }
  for (const auto& scaled : view.points().scaled) {
    scaled.point->ScoreFeasible(state, view.spec(), nodes, row);
    sheet.Add(scaled.plugin, row);
  }
  if (const PeerCounts* peers = view.Peers()) {
    for (const auto& score : view.points().peer_scores) {
      score.point->ScorePeers(*peers, nodes, row);
      sheet.Add(score.plugin, row);
    }
  }
  for (const auto& score : session_.plugins().points().tasks) {
    if (!score.point->ScoresTasksOf(request_.job)) continue;
    score.point->ScoreForTask(state, task, nodes, row);
    sheet.Add(score.plugin, row);
  }
  const Placement placement{
      .job = &job_, .sub_job = &sub_job_, .spec = &view.spec(), .allocated = allocated_};
  scratch_.resize(groups_.size());
  for (const auto& chains : session_.plugins().points().chains) {
    chains.point->ScoreChains(state, placement, groups_, scratch_);
    auto next = row.begin();  // candidates come chain by chain
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      next = std::fill_n(next, groups_[g].feasible, scratch_[g]);
    }
    sheet.Add(chains.plugin, row);
  }
  return sheet;
}

std::vector<Score> NodeChooser::FutureScores(const ClassView& view,
                                             std::span<const NodeId> nodes) const {
  std::vector<Score> total(nodes.size(), 0);
  std::vector<Score> row(nodes.size());
  for (const auto& score : view.points().scores) {
    score.point->ScoreNodes(session_.state(), view.spec(), nodes, row);
    for (std::size_t i = 0; i < row.size(); ++i) total[i] += row[i];
  }
  return total;
}

NodeChooser::Waiting& NodeChooser::WaitingOf(ClassId class_id) {
  ClassView& view = session_.views().Of(class_id);
  const auto [it, is_new] = waiting_.try_emplace(class_id);
  Waiting& waiting = it->second;
  if (is_new) {
    const std::vector<std::size_t> positions =
        Collect([&](NodeId node) { return view.FitsFuture(node); });
    std::vector<NodeId> nodes;
    nodes.reserve(positions.size());
    for (const std::size_t position : positions) nodes.push_back(shape_.nodes[position]);
    const std::vector<Score> scores = FutureScores(view, nodes);
    waiting.scores.assign(shape_.nodes.size(), kNoScore);
    for (std::size_t i = 0; i < positions.size(); ++i) waiting.scores[positions[i]] = scores[i];
    waiting.feasible.resize(shape_.groups.size());
    waiting.best.resize(shape_.groups.size());
    for (std::size_t g = 0; g < shape_.groups.size(); ++g) FollowGroup(waiting, g);
    waiting.seen = changed_.size();
  }
  for (; waiting.seen < changed_.size(); ++waiting.seen) {
    const std::size_t position = changed_[waiting.seen];
    if (waiting.scores[position] == kNoScore) continue;
    const NodeId node = shape_.nodes[position];
    const bool fits = view.FitsFuture(node);
    waiting.scores[position] = fits ? FutureScores(view, std::span(&node, 1)).front() : kNoScore;
    const auto group = std::upper_bound(
        shape_.groups.begin(), shape_.groups.end(), position, [](std::size_t p, const auto& one) {
          return p < one.end;
        });
    FollowGroup(waiting, static_cast<std::size_t>(group - shape_.groups.begin()));
  }
  return waiting;
}

void NodeChooser::FollowGroup(Waiting& waiting, std::size_t group) const {
  const HyperNodeTree& tree = session_.tree();
  std::uint32_t feasible = 0;
  std::size_t best = 0;
  for (std::size_t i = shape_.groups[group].begin; i < shape_.groups[group].end; ++i) {
    if (waiting.scores[i] == kNoScore) continue;
    const bool better = feasible == 0 || waiting.scores[i] > waiting.scores[best] ||
                        (waiting.scores[i] == waiting.scores[best] &&
                         tree.NameRank(shape_.nodes[i]) < tree.NameRank(shape_.nodes[best]));
    if (better) best = i;
    ++feasible;
  }
  waiting.feasible[group] = feasible;
  waiting.best[group] = best;
}

std::optional<NodeChooser::Choice> NodeChooser::ChooseAmongWaiting(TaskId task) {
  const Waiting& waiting = WaitingOf(session_.state().workload().task(task).class_id);
  std::vector<ChainGroup>& groups = Groups();
  session_.Look(groups.size());
  bool any = false;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    groups[g].feasible = waiting.feasible[g];
    any = any || waiting.feasible[g] > 0;
  }
  if (!any) return std::nullopt;
  ScoreChains(task, groups);
  Best best;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (waiting.feasible[g] == 0) continue;
    Offer(best, waiting.best[g], waiting.scores[waiting.best[g]] + chain_scores_[g]);
  }
  return Choice{.position = *best.position, .idle = false};
}

std::optional<NodeChooser::Choice> NodeChooser::ChooseBySweep(TaskId task) {
  const ClassId class_id = session_.state().workload().task(task).class_id;
  ClassView& view = session_.views().Of(class_id);
  if (session_.tracing_nodes() && traced_.insert(class_id).second) TraceRejections(task);

  std::vector<std::size_t> positions = Collect([&](NodeId node) { return view.Takes(node); });
  const bool idle = !positions.empty();
  if (!idle && request_.pass == Pass::kWaiting) {
    positions = Collect([&](NodeId node) { return view.FitsFuture(node); });
  }
  if (positions.empty()) return std::nullopt;

  std::vector<NodeId> nodes(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) nodes[i] = shape_.nodes[positions[i]];
  const ScoreSheet sheet = ScoreAll(task, nodes, idle);
  std::size_t best = 0;
  for (std::size_t i = 1; i < positions.size(); ++i) {
    if (Better(sheet.total[i], positions[i], sheet.total[best], positions[best])) best = i;
  }
  if (session_.tracing_nodes()) TraceChoice(task, sheet, nodes, nodes[best]);
  return Choice{.position = positions[best], .idle = idle};
}

void NodeChooser::TraceChoice(TaskId task,
                              const ScoreSheet& sheet,
                              std::span<const NodeId> nodes,
                              NodeId chosen) {
  const ClusterState& state = session_.state();
  NodeScoreRecord record;
  record.job = job_.spec.name;
  record.pod = state.workload().task(task).name;
  record.hypernode = session_.tree().at(request_.domain).name;
  record.chosen = state.nodes().spec(chosen).name;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string& name = state.nodes().spec(nodes[i]).name;
    record.total[name] = sheet.total[i];
    for (const auto& [plugin, scores] : sheet.by_plugin) record.scores[plugin][name] = scores[i];
  }
  session_.Trace(std::move(record));
}

void NodeChooser::TraceRejections(TaskId task) {
  const ClusterState& state = session_.state();
  ClassView& view = session_.views().Of(state.workload().task(task).class_id);
  for (const NodeId node : shape_.nodes) {
    if (view.Takes(node)) continue;
    const Rejection why = view.WhyNot(node);
    session_.Trace(RejectRecord{.job = job_.spec.name,
                                .pod = state.workload().task(task).name,
                                .node = state.nodes().spec(node).name,
                                .plugin = why.plugin,
                                .reason = why.reason});
  }
}

}  // namespace strata
